/* Preloaded into the program by tests: a clock that jumps, by up to a day back and forth, at every
 * look. */
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long jump_s(void) {
    static atomic_ulong looks;
    unsigned long z = (atomic_fetch_add(&looks, 1) + 1) * 0x9E3779B97F4A7C15u;
    return (long)((z ^ z >> 31) % 172800) - 86400;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    int failed = (int)syscall(SYS_clock_gettime, clock, now);
    now->tv_sec += jump_s();
    if (now->tv_sec < 0) now->tv_sec = 0;
    return failed;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec fine;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &fine);
    *now = (struct timeval){fine.tv_sec, fine.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *copy) {
    struct timespec fine;
    clock_gettime(CLOCK_REALTIME, &fine);
    if (copy) *copy = fine.tv_sec;
    return fine.tv_sec;
}
