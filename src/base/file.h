/* Output files that appear whole or not at all: written aside, flushed to the disk, renamed. */
#ifndef DPL_BASE_FILE_H
#define DPL_BASE_FILE_H

#include "base/digest.h" // defines: DPL_DIGEST_HEX

struct dpl_file;

/* All of the bytes, also when signals or the system cut calls short; false: errno says why. */
bool dpl_write_whole(int fd, const void *bytes, size_t length);
/* As many bytes as there are, `size` at most; -1: errno says why. */
ssize_t dpl_read_whole(int fd, void *bytes, size_t size);

/* Whether a number of errno tells of the machine (disk, memory, limits) and not of the file. */
bool dpl_system_fault(int number);

enum { DPL_FILE_MARK = 256 };

/* Whether the file at `path` is one that this program wrote, by its content or by its manifest. */
typedef enum dpl_status dpl_file_ours(struct dpl_run *run, const char *path, bool *ours);

struct dpl_file_options {
    bool overwrite;  /* otherwise an existing file is refused (DPL_USAGE) */
    bool only_owner; /* mode 0600, for what must stay private */
    bool digest;     /* dpl_file_seal tells the SHA-256 */
    /* with `overwrite`: only an empty file is replaced, or one that begins (within DPL_FILE_MARK
     * bytes) with `mark`, or that `ours` knows */
    const char *mark;
    dpl_file_ours *ours;
};

/* Whether `path` may be written: it is not there, or it may be replaced. Links, directories and
 * files of others never are. "-" may. */
enum dpl_status dpl_file_check(struct dpl_run *run, const char *path,
                               const struct dpl_file_options *options);
/* Opens `path` for writing ("-": standard output). A name ending in .gz or .zst is compressed.
 * Ends with dpl_file_commit or dpl_file_abort. */
enum dpl_status dpl_file_create(struct dpl_run *run, const char *path,
                                const struct dpl_file_options *options, struct dpl_file **file);
/* Buffered. After a failure only dpl_file_abort makes sense. */
enum dpl_status dpl_file_write(struct dpl_file *file, const void *bytes, size_t length);
enum dpl_status dpl_file_print(struct dpl_file *file, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The descriptor that it is written through, for a writer of another library; that done, its bytes
 * are adopted. Not for what is compressed, nor after dpl_file_write. */
int dpl_file_descriptor(const struct dpl_file *file);
enum dpl_status dpl_file_adopt(struct dpl_file *file);
/* The content is complete and on the disk, still aside. `hex` (may be NULL) gets the SHA-256 of the
 * bytes as they stand there, packed or not. */
enum dpl_status dpl_file_seal(struct dpl_file *file, char hex[DPL_DIGEST_HEX]);
/* Whether something stands under the name that it will replace. */
bool dpl_file_replaces(const struct dpl_file *file);
/* The steps of replacing several files that belong together, of sealed files (base/bundle.c):
 * removes what stands under the name; gives the file its name; takes what then stands there, or
 * what would have been replaced, away again. */
enum dpl_status dpl_file_clear(struct dpl_file *file);
enum dpl_status dpl_file_show(struct dpl_file *file);
void dpl_file_retract(struct dpl_file *file);
/* Makes the file appear under its name, and frees. On failure nothing appears and an older file
 * stays. */
enum dpl_status dpl_file_commit(struct dpl_file *file);
/* Forgets what was written; NULL is allowed. */
void dpl_file_abort(struct dpl_file *file);

/* The SHA-256 of a file's bytes. */
enum dpl_status dpl_file_sha256(struct dpl_run *run, const char *path, char hex[DPL_DIGEST_HEX]);
/* The first bytes of a file, at most `size`: *n of them, 0 when there is no such file. */
enum dpl_status dpl_file_head(struct dpl_run *run, const char *path, void *bytes, size_t size,
                              size_t *n);
/* Makes a rename or removal next to `path` last: its directory is flushed to the disk. */
enum dpl_status dpl_sync_directory(struct dpl_run *run, const char *path);

/* PRIVACY: DPL_REFUSED where somebody else could put a file of theirs in the place of `path`: its
 * folder can be written by others (without the sticky bit), or the file that is there is not ours.
 * For what a promise rests on: ledgers, their keys, checkpoints. */
enum dpl_status dpl_file_guarded(struct dpl_run *run, const char *path);

enum { DPL_PATH_ROOM = 4096 };

/* The folder `part` of the state directory ($XDG_STATE_HOME/dploc, or ~/.local/state/dploc), made
 * for its owner alone if it is not there; leaves 128 bytes for a file's name. `advice` is what to
 * do when there is no place for it. */
enum dpl_status dpl_state_directory(struct dpl_run *run, const char *part, const char *advice,
                                    char folder[DPL_PATH_ROOM]);

/* A file without a name, gone when it is closed: nothing private stays behind. It lies below
 * $TMPDIR if that is set, else in the state directory, which is the owner's alone: raw points go
 * through it. */
enum dpl_status dpl_file_temporary(struct dpl_run *run, int *fd);

#endif
