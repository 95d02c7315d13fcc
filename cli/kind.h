/* What a file is, by its first bytes. */
#ifndef DPLOC_CLI_KIND_H
#define DPLOC_CLI_KIND_H

enum file_kind {
    FILE_MISSING, /* or not to be opened, or standard input */
    FILE_MODEL,
    FILE_CERTIFICATE,
    FILE_MANIFEST,
    FILE_LEDGER,
    FILE_ROUND, /* a plan of a fit in rounds, or a part */
    FILE_OTHER  /* data, most likely */
};

enum file_kind file_kind(const char *path);

#endif
