/* See duckdb.h. */
#include "base/duckdb.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static const char *const NAMES[] = {"libduckdb.so", "libduckdb.dylib"};

static const struct {
    const char *name;
    size_t at; /* in struct duck */
} FUNCTIONS[] = {
#define DUCK_ROW(result, name, arguments) {"duckdb_" #name, offsetof(struct duck, name)},
    DUCK_FUNCTIONS(DUCK_ROW)
#undef DUCK_ROW
};

const char *dpl_duck_words(const char *message, char text[256]) {
    size_t length = 0;
    for (; message && message[length] && message[length] != '\n' && length + 1 < 256; length++)
        text[length] = message[length];
    text[length] = '\0';
    return text;
}

/* ---- the library ---- */

/* It stays loaded: it has threads and destructors of its own. */
static void *load(const char *name) { return dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE); }

static enum dpl_status find_library(struct dpl_run *run, void **library) {
    const char *given = getenv("DPLOC_DUCKDB");
    if (given && *given) {
        if ((*library = load(given)) != NULL) return DPL_OK;
        const char *why = dlerror();
        return dpl_fail(run, DPL_USAGE, "DPLOC_DUCKDB: %.300s (it must name the file libduckdb.so)",
                        why ? why : given);
    }
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if ((*library = load(NAMES[i])) != NULL) return DPL_OK;
    return dpl_fail(run, DPL_USAGE,
                    "Parquet is read and written by DuckDB's C library, which is not installed: "
                    "get libduckdb.so (a download of duckdb.org, or 'npm install "
                    "@duckdb/node-bindings-linux-x64', which contains it), and put it where the "
                    "system finds libraries or name it in DPLOC_DUCKDB");
}

static enum dpl_status find_functions(struct dpl_run *run, void *library, struct duck *duck) {
    for (size_t i = 0; i < sizeof FUNCTIONS / sizeof *FUNCTIONS; i++) {
        void *function = dlsym(library, FUNCTIONS[i].name);
        if (!function)
            return dpl_fail(run, DPL_USAGE,
                            "this libduckdb has no %s: DuckDB 1.0 or later is needed "
                            "(DPLOC_DUCKDB names another)",
                            FUNCTIONS[i].name);
        memcpy((char *)duck + FUNCTIONS[i].at, &function, sizeof function);
    }
    return DPL_OK;
}

enum dpl_status dpl_duck_find(struct dpl_run *run) {
    struct duck duck;
    void *library;
    DPL_TRY(find_library(run, &library));
    return find_functions(run, library, &duck);
}

/* ---- a session ---- */

/* PRIVACY: without a temporary directory DuckDB keeps private rows in memory or fails; without
 * extensions to load it cannot reach a network. */
static enum dpl_status configure(struct dpl_run *run, const struct duck *duck, int threads,
                                 void **config) {
    char number[16];
    const char *const settings[][2] = {{"temp_directory", ""},
                                       {"autoinstall_known_extensions", "false"},
                                       {"autoload_known_extensions", "false"},
                                       {"allow_community_extensions", "false"},
                                       {"threads", number}};
    snprintf(number, sizeof number, "%d", threads);
    if (duck->create_config(config) != 0) return dpl_fail(run, DPL_SYSTEM, "out of memory");
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (duck->set_config(*config, settings[i][0], settings[i][1]) != 0)
            return dpl_fail(run, DPL_USAGE,
                            "this libduckdb does not know the setting %s: DuckDB 1.0 or later is "
                            "needed (DPLOC_DUCKDB names another)",
                            settings[i][0]);
    return DPL_OK;
}

static enum dpl_status connect_to(struct dpl_run *run, struct duck *duck, int threads) {
    void *config = NULL;
    char *message = NULL, words[256];
    enum dpl_status status = configure(run, duck, threads, &config);
    if (status == DPL_OK && duck->open_ext(NULL, &duck->database, config, &message) != 0)
        status =
            dpl_fail(run, DPL_SYSTEM, "DuckDB does not start: %s", dpl_duck_words(message, words));
    if (message) duck->free(message);
    duck->destroy_config(&config);
    if (status == DPL_OK && duck->connect(duck->database, &duck->connection) != 0)
        status = dpl_fail(run, DPL_SYSTEM, "DuckDB does not start");
    return status;
}

enum dpl_status dpl_duck_open(struct dpl_run *run, int threads, struct duck **made) {
    void *library;
    DPL_TRY(find_library(run, &library));
    struct duck *duck = dpl_alloc(run, 1, sizeof *duck);
    if (!duck) return DPL_SYSTEM;
    enum dpl_status status;
    DPL_GO(find_functions(run, library, duck));
    DPL_GO(connect_to(run, duck, threads));
    *made = duck;
    duck = NULL;
done:
    dpl_duck_close(duck);
    return status;
}

void dpl_duck_close(struct duck *duck) {
    if (!duck) return;
    if (duck->connection) duck->disconnect(&duck->connection);
    if (duck->database) duck->close(&duck->database);
    dpl_free(duck);
}

enum dpl_status dpl_duck_do(struct dpl_run *run, struct duck *duck, const char *what,
                            const char *statement) {
    struct duck_result result = {0};
    char words[256];
    enum dpl_status status = DPL_OK;
    if (duck->query(duck->connection, statement, &result) != 0)
        status = dpl_fail(run, DPL_BAD_DATA, "%s: %s", what,
                          dpl_duck_words(duck->result_error(&result), words));
    duck->destroy_result(&result);
    return status;
}
