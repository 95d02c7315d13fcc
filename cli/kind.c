/* What a file is, by its first bytes. */
#include "kind.h"

#include <dploc.h>
#include <dploc_privacy.h>
#include <dploc_rounds.h>
#include <stdio.h>
#include <string.h>

enum { PEEK = 64 };

enum file_kind file_kind(const char *path) {
    char peek[PEEK + 1] = "";
    FILE *file = strcmp(path, "-") ? fopen(path, "rb") : NULL;
    if (!file) return FILE_MISSING;
    size_t length = fread(peek, 1, PEEK, file);
    fclose(file);
    if (dpl_model_recognise(peek, length)) return FILE_MODEL;
    if (dpl_certificate_recognise(peek, length)) return FILE_CERTIFICATE;
    if (dpl_ledger_recognise(peek, length)) return FILE_LEDGER;
    if (dpl_task_recognise(peek, length)) return FILE_ROUND;
    return strstr(peek, "\"dploc_manifest\"") ? FILE_MANIFEST : FILE_OTHER;
}
