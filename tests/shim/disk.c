/* Preloaded into the program by tests: counts what it asks of the system, and at the n-th such call
 * ends the process or lets the call fail.
 *
 *     DPLOC_SHIM_KIND=KIND    which calls are counted (below); "disk" if not set
 *     DPLOC_SHIM_LOG=FILE     appends a line "call path" for each
 *     DPLOC_SHIM_RECORD=FILE  appends each change with its bytes, to be replayed (power_test.py):
 *                             "call inode offset length name" and a new line, then the bytes
 *     DPLOC_SHIM_END=N        the N-th call does not return: half of a write is done, then _exit
 *     DPLOC_SHIM_FAIL=N       the N-th call fails, with the number in DPLOC_SHIM_ERRNO; the number
 * 0 means that it does half of what it was asked for and says so
 *
 *     disk     what changes regular files and names
 *     open     names that are opened
 *     read     read and pread of regular files
 *     random   getrandom
 *     memory   malloc and its kin, mmap; those of libgomp, which ends the process itself, are let
 * be
 *
 * Flushing to the disk is counted but never done: it takes longer than all the rest, and what the
 * tests look at is what the next process sees. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ENDED = 86 };

static atomic_long calls;

static bool kind_is(const char *kind) {
    const char *counted_kind = getenv("DPLOC_SHIM_KIND");
    return !strcmp(counted_kind ? counted_kind : "disk", kind);
}

static long number_of(const char *name) {
    const char *text = getenv(name);
    return text ? atol(text) : 0;
}

static void record(const char *call, const char *path) {
    char line[PATH_MAX + 32];
    const char *log = getenv("DPLOC_SHIM_LOG");
    if (!log) return;
    int length = snprintf(line, sizeof line, "%s %s\n", call, path);
    int fd = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (fd >= 0 && length > 0) syscall(SYS_write, fd, line, (size_t)length);
    if (fd >= 0) syscall(SYS_close, fd);
}

/* One change that was made. For two names, the bytes are the second one. */
static void keep(const char *call, unsigned long inode, off_t offset, const void *bytes,
                 size_t length, const char *name) {
    char line[PATH_MAX + 128];
    const char *file = getenv("DPLOC_SHIM_RECORD");
    if (!file) return;
    int head = snprintf(line, sizeof line, "%s %lu %lld %zu %s\n", call, inode, (long long)offset,
                        length, name);
    int fd = (int)syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (fd < 0) return;
    syscall(SYS_write, fd, line, (size_t)head);
    syscall(SYS_write, fd, bytes, length);
    syscall(SYS_close, fd);
}

static unsigned long inode_of(int fd) {
    struct stat info;
    return fstat(fd, &info) == 0 ? (unsigned long)info.st_ino : 0;
}

/* True: the call is to fail, errno is set. *ends: the process is to end here. */
static bool counted(const char *kind, const char *call, const char *path, bool *ends) {
    *ends = false;
    if (!kind_is(kind)) return false;
    long n = atomic_fetch_add(&calls, 1) + 1;
    record(call, path);
    *ends = n == number_of("DPLOC_SHIM_END");
    if (n != number_of("DPLOC_SHIM_FAIL")) return false;
    errno = (int)number_of("DPLOC_SHIM_ERRNO");
    return true;
}

/* For calls that are done or not done. */
static bool fails(const char *call, const char *path) {
    bool ends;
    bool failed = counted("disk", call, path, &ends);
    if (ends) _exit(ENDED);
    return failed && errno; // there is no half of it
}

static bool regular(int fd, char path[PATH_MAX]) {
    struct stat info;
    char link[64];
    if (fstat(fd, &info) != 0 || !(S_ISREG(info.st_mode) || S_ISDIR(info.st_mode))) return false;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, PATH_MAX - 1);
    path[n > 0 ? n : 0] = '\0';
    return true;
}

static size_t half(size_t length) { return length > 1 ? length / 2 : length; }

ssize_t write(int fd, const void *bytes, size_t length) {
    char path[PATH_MAX];
    bool ends = false;
    if (regular(fd, path) && counted("disk", "write", path, &ends)) {
        if (errno) return -1;
        length = half(length);
    }
    if (ends) {
        syscall(SYS_write, fd, bytes, length / 2);
        _exit(ENDED);
    }
    off_t at = lseek(fd, 0, SEEK_CUR);
    ssize_t done = syscall(SYS_write, fd, bytes, length);
    if (at >= 0 && done > 0) keep("write", inode_of(fd), at, bytes, (size_t)done, "");
    return done;
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at) {
    char path[PATH_MAX];
    bool ends = false;
    if (regular(fd, path) && counted("disk", "pwrite", path, &ends)) {
        if (errno) return -1;
        length = half(length);
    }
    if (ends) {
        syscall(SYS_pwrite64, fd, bytes, length / 2, at);
        _exit(ENDED);
    }
    ssize_t done = syscall(SYS_pwrite64, fd, bytes, length, at);
    if (done > 0) keep("write", inode_of(fd), at, bytes, (size_t)done, "");
    return done;
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t at) {
    return pwrite(fd, bytes, length, at);
}

static int flush(const char *call, int fd) {
    char path[PATH_MAX];
    if (!regular(fd, path)) return 0;
    if (fails(call, path)) return -1;
    keep("fsync", inode_of(fd), 0, "", 0, path);
    return 0;
}

int fsync(int fd) { return flush("fsync", fd); }
int fdatasync(int fd) { return flush("fdatasync", fd); }
int syncfs(int fd) { return flush("syncfs", fd); }

int ftruncate(int fd, off_t length) {
    char path[PATH_MAX];
    if (regular(fd, path) && fails("ftruncate", path)) return -1;
    keep("truncate", inode_of(fd), length, "", 0, "");
    return (int)syscall(SYS_ftruncate, fd, length);
}

int renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags) {
    if (fails("rename", to)) return -1;
    int failed = (int)syscall(SYS_renameat2, from_fd, from, to_fd, to, flags);
    if (!failed) keep("rename", 0, 0, to, strlen(to), from);
    return failed;
}

int renameat(int from_fd, const char *from, int to_fd, const char *to) {
    return renameat2(from_fd, from, to_fd, to, 0);
}

int rename(const char *from, const char *to) { return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0); }

int linkat(int from_fd, const char *from, int to_fd, const char *to, int flags) {
    if (fails("link", to)) return -1;
    int failed = (int)syscall(SYS_linkat, from_fd, from, to_fd, to, flags);
    if (!failed) keep("link", 0, 0, to, strlen(to), from);
    return failed;
}

int link(const char *from, const char *to) { return linkat(AT_FDCWD, from, AT_FDCWD, to, 0); }

int unlinkat(int fd, const char *path, int flags) {
    if (fails("unlink", path)) return -1;
    int failed = (int)syscall(SYS_unlinkat, fd, path, flags);
    if (!failed) keep("unlink", 0, 0, "", 0, path);
    return failed;
}

int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char *path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }

int mkdir(const char *path, mode_t mode) {
    if (fails("mkdir", path)) return -1;
    int failed = (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
    if (!failed) keep("mkdir", 0, 0, "", 0, path);
    return failed;
}

/* ---- opening and reading ---- */

static int open_at(int folder, const char *path, int flags, mode_t mode) {
    bool ends;
    if (counted("open", "open", path, &ends) && errno) return -1;
    if (ends) _exit(ENDED);
    bool fresh = flags & O_CREAT && syscall(SYS_faccessat, folder, path, F_OK) != 0;
    int fd = (int)syscall(SYS_openat, folder, path, flags, mode);
    if (fd >= 0 && fresh) keep("create", inode_of(fd), 0, "", 0, path);
    return fd;
}

#define WITH_MODE(call, folder, path, flags)                                                       \
    va_list rest;                                                                                  \
    va_start(rest, flags);                                                                         \
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;                        \
    va_end(rest);                                                                                  \
    return open_at(folder, path, flags, mode)

int open(const char *path, int flags, ...) { WITH_MODE(open, AT_FDCWD, path, flags); }
int open64(const char *path, int flags, ...) { WITH_MODE(open, AT_FDCWD, path, flags); }
int openat(int folder, const char *path, int flags, ...) { WITH_MODE(open, folder, path, flags); }
int openat64(int folder, const char *path, int flags, ...) { WITH_MODE(open, folder, path, flags); }

FILE *fopen(const char *path, const char *mode) {
    FILE *(*real)(const char *, const char *);
    bool ends;
    *(void **)&real = dlsym(RTLD_NEXT, "fopen");
    if (counted("open", "fopen", path, &ends) && errno) return NULL;
    if (ends) _exit(ENDED);
    return real(path, mode);
}

ssize_t read(int fd, void *bytes, size_t length) {
    char path[PATH_MAX];
    bool ends = false;
    if (kind_is("read") && regular(fd, path) && counted("read", "read", path, &ends)) {
        if (errno) return -1;
        length = half(length);
    }
    if (ends) _exit(ENDED);
    return syscall(SYS_read, fd, bytes, length);
}

ssize_t pread(int fd, void *bytes, size_t length, off_t at) {
    char path[PATH_MAX];
    bool ends = false;
    if (kind_is("read") && regular(fd, path) && counted("read", "pread", path, &ends)) {
        if (errno) return -1;
        length = half(length);
    }
    if (ends) _exit(ENDED);
    return syscall(SYS_pread64, fd, bytes, length, at);
}

ssize_t pread64(int fd, void *bytes, size_t length, off64_t at) {
    return pread(fd, bytes, length, at);
}

ssize_t getrandom(void *bytes, size_t length, unsigned flags) {
    bool ends;
    if (counted("random", "getrandom", "", &ends)) {
        if (errno) return -1;
        length = half(length);
    }
    if (ends) _exit(ENDED);
    return syscall(SYS_getrandom, bytes, length, flags);
}

/* ---- memory ---- */

#ifndef DPLOC_SHIM_NO_MEMORY // the sanitizer has an allocator of its own

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *pointer, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

/* Code whose requests are not counted. */
static struct range { uintptr_t begin, end; } let_be[4];
static size_t n_let_be;
static atomic_bool ready;

static int note_object(struct dl_phdr_info *object, size_t size, void *unused) {
    (void)size, (void)unused;
    const char *const names[] = {"libgomp", "ld-linux", "libdnnl", "libOpenCL"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (int p = 0; strstr(object->dlpi_name, names[i]) && p < object->dlpi_phnum; p++)
            if (object->dlpi_phdr[p].p_flags & PF_X && n_let_be < sizeof let_be / sizeof *let_be)
                let_be[n_let_be++] =
                    (struct range){object->dlpi_addr + object->dlpi_phdr[p].p_vaddr,
                                   object->dlpi_addr + object->dlpi_phdr[p].p_vaddr +
                                       object->dlpi_phdr[p].p_memsz};
    return 0;
}

__attribute__((constructor)) static void find_objects(void) {
    if (!kind_is("memory")) return;
    dl_iterate_phdr(note_object, NULL);
    atomic_store(&ready, true);
}

static bool no_memory(const char *call, const void *caller) {
    bool ends;
    if (!atomic_load(&ready)) return false;
    for (size_t i = 0; i < n_let_be; i++)
        if ((uintptr_t)caller >= let_be[i].begin && (uintptr_t)caller < let_be[i].end) return false;
    bool failed = counted("memory", call, "", &ends);
    if (ends) _exit(ENDED);
    if (failed) errno = ENOMEM;
    return failed;
}
#define NO_MEMORY(call) no_memory(call, __builtin_return_address(0))

void *malloc(size_t size) { return NO_MEMORY("malloc") ? NULL : __libc_malloc(size); }
void *calloc(size_t n, size_t size) { return NO_MEMORY("calloc") ? NULL : __libc_calloc(n, size); }
void *realloc(void *old, size_t size) {
    return NO_MEMORY("realloc") ? NULL : __libc_realloc(old, size);
}
void *aligned_alloc(size_t alignment, size_t size) {
    return NO_MEMORY("aligned_alloc") ? NULL : __libc_memalign(alignment, size);
}
void *mmap(void *at, size_t size, int access, int flags, int fd, off_t offset) {
    if (NO_MEMORY("mmap")) return MAP_FAILED;
    return (void *)syscall(SYS_mmap, at, size, access, flags, fd, offset);
}
#endif
