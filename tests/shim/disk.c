/* Preloaded into the program by tests: counts what it does to regular files and to names, and at
 * the n-th such call ends the process or lets the call fail.
 *
 *     DPLOC_SHIM_LOG=FILE     appends a line "call path" for each
 *     DPLOC_SHIM_END=N        the N-th call does not return: half of a write is done, then _exit
 *     DPLOC_SHIM_FAIL=N       the N-th call fails, with the number in DPLOC_SHIM_ERRNO
 *
 * Flushing to the disk is counted but never done: it takes longer than all the rest, and what the
 * tests look at is what the next process sees. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ENDED = 86 };

static atomic_long calls;

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

/* True: the call is to fail, errno is set. *ends: the process is to end here. */
static bool counted(const char *call, const char *path, bool *ends) {
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
    bool failed = counted(call, path, &ends);
    if (ends) _exit(ENDED);
    return failed;
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

ssize_t write(int fd, const void *bytes, size_t length) {
    char path[PATH_MAX];
    bool ends = false;
    if (regular(fd, path) && counted("write", path, &ends)) return -1;
    if (ends) {
        syscall(SYS_write, fd, bytes, length / 2);
        _exit(ENDED);
    }
    return syscall(SYS_write, fd, bytes, length);
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at) {
    char path[PATH_MAX];
    bool ends = false;
    if (regular(fd, path) && counted("pwrite", path, &ends)) return -1;
    if (ends) {
        syscall(SYS_pwrite64, fd, bytes, length / 2, at);
        _exit(ENDED);
    }
    return syscall(SYS_pwrite64, fd, bytes, length, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t at) {
    return pwrite(fd, bytes, length, at);
}

static int flush(const char *call, int fd) {
    char path[PATH_MAX];
    return regular(fd, path) && fails(call, path) ? -1 : 0;
}

int fsync(int fd) { return flush("fsync", fd); }
int fdatasync(int fd) { return flush("fdatasync", fd); }
int syncfs(int fd) { return flush("syncfs", fd); }

int ftruncate(int fd, off_t length) {
    char path[PATH_MAX];
    if (regular(fd, path) && fails("ftruncate", path)) return -1;
    return (int)syscall(SYS_ftruncate, fd, length);
}

int renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags) {
    if (fails("rename", to)) return -1;
    return (int)syscall(SYS_renameat2, from_fd, from, to_fd, to, flags);
}

int renameat(int from_fd, const char *from, int to_fd, const char *to) {
    return renameat2(from_fd, from, to_fd, to, 0);
}

int rename(const char *from, const char *to) { return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0); }

int linkat(int from_fd, const char *from, int to_fd, const char *to, int flags) {
    if (fails("link", to)) return -1;
    return (int)syscall(SYS_linkat, from_fd, from, to_fd, to, flags);
}

int link(const char *from, const char *to) { return linkat(AT_FDCWD, from, AT_FDCWD, to, 0); }

int unlinkat(int fd, const char *path, int flags) {
    if (fails("unlink", path)) return -1;
    return (int)syscall(SYS_unlinkat, fd, path, flags);
}

int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char *path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }

int mkdir(const char *path, mode_t mode) {
    if (fails("mkdir", path)) return -1;
    return (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}
