/* Preloaded into a process, moves its clocks by two numbers of nanoseconds in the file HOLDFAST_CLOCK, which may change
 * at any time:
 *
 *   set      how far the wall clock is set ahead; the monotonic clock stays as it is
 *   passed   how much time has passed besides: both clocks are ahead by it, and what waits for a time waits that much less
 *
 * A wait asks the clock again after each SLICE, so that time that passes ends it. What the kernel itself times goes on as
 * it is, and ends late: setitimer, timerfd, time-outs of sockets, select with descriptors. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000LL
#define MILLI 1000000LL
#define SLICE (2 * MILLI)
#define FOREVER 0x7fffffffffffffffLL
/* A monotonic clock that shows more has run for 30 years. */
#define FIRST_WALL_SECOND 1000000000LL

static volatile const struct { long long set, passed; } *moved;

static int is_moved(void) {
  if (!moved) {
    const char *file = getenv("HOLDFAST_CLOCK");
    int opened = file ? open(file, O_RDONLY | O_CLOEXEC) : -1;
    void *shared = opened < 0 ? MAP_FAILED : mmap(NULL, sizeof *moved, PROT_READ, MAP_SHARED, opened, 0);
    if (opened >= 0) close(opened);
    if (shared == MAP_FAILED) return 0;
    moved = shared;
  }
  return 1;
}

static long long by(clockid_t clock) {
  if (!is_moved()) return 0;
  switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
      return moved->set + moved->passed;
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_BOOTTIME:
      return moved->passed;
    default:
      return 0; /* processor time */
  }
}

static long long nanos(const struct timespec *time) {
  return time->tv_sec > FOREVER / SECOND - 1 ? FOREVER : time->tv_sec * SECOND + time->tv_nsec;
}

static struct timespec timespec_of(long long nanos) {
  struct timespec time = {nanos / SECOND, nanos % SECOND};
  return time;
}

static long long unmoved(clockid_t clock) {
  struct timespec time;
  syscall(SYS_clock_gettime, clock, &time);
  return nanos(&time);
}

static long long now(clockid_t clock) {
  return unmoved(clock) + by(clock);
}

/* What is next behind this library; a version is named where the oldest one would be found otherwise. */
#define NEXT(function) \
  static __typeof__(&function) next; \
  if (!next) next = (__typeof__(&function)) dlsym(RTLD_NEXT, #function)

/* ---- the clocks */

int clock_gettime(clockid_t clock, struct timespec *time) {
  int failed = syscall(SYS_clock_gettime, clock, time);
  long long ahead = failed ? 0 : by(clock);
  if (ahead) *time = timespec_of(nanos(time) + ahead);
  return failed;
}

int gettimeofday(struct timeval *time, void *zone) {
  long long exact = now(CLOCK_REALTIME);
  (void) zone;
  time->tv_sec = exact / SECOND;
  time->tv_usec = exact % SECOND / 1000;
  return 0;
}

time_t time(time_t *result) {
  time_t seconds = now(CLOCK_REALTIME) / SECOND;
  if (result) *result = seconds;
  return seconds;
}

/* ---- sleeping */

/* Until a moment of a clock; the number of an error, or 0. */
static int sleep_until(clockid_t clock, long long end) {
  for (;;) {
    long long left = end - now(clock);
    struct timespec slice = timespec_of(left < SLICE ? left : SLICE);
    if (left <= 0) return 0;
    if (syscall(SYS_nanosleep, &slice, NULL)) return errno;
  }
}

static long long after(long long nanos) {
  long long start = now(CLOCK_MONOTONIC);
  return nanos > FOREVER - start ? FOREVER : start + nanos;
}

int nanosleep(const struct timespec *time, struct timespec *left) {
  long long end = after(nanos(time));
  int failed = sleep_until(CLOCK_MONOTONIC, end);
  if (!failed) return 0;
  if (left) *left = timespec_of(end - now(CLOCK_MONOTONIC) > 0 ? end - now(CLOCK_MONOTONIC) : 0);
  errno = failed;
  return -1;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *left) {
  if (flags & TIMER_ABSTIME) return sleep_until(clock, nanos(time));
  return nanosleep(time, left) ? errno : 0;
}

int usleep(useconds_t micros) {
  struct timespec time = timespec_of(micros * 1000LL);
  return nanosleep(&time, NULL);
}

unsigned sleep(unsigned seconds) {
  struct timespec time = {seconds, 0}, left = {0, 0};
  return nanosleep(&time, &left) ? left.tv_sec + 1 : 0;
}

int select(int count, fd_set *read, fd_set *write, fd_set *except, struct timeval *timeout) {
  NEXT(select);
  if (read || write || except || !timeout) return next(count, read, write, except, timeout);
  struct timespec time = {timeout->tv_sec, timeout->tv_usec * 1000};
  return nanosleep(&time, NULL);
}

/* ---- descriptors */

/* Repeats a wait of some milliseconds, slice by slice. */
#define IN_SLICES(millis, wait) \
  long long end = after(millis * MILLI); \
  for (;;) { \
    long long left = end - now(CLOCK_MONOTONIC); \
    int slice = left <= 0 ? 0 : ((left < SLICE ? left : SLICE) + MILLI - 1) / MILLI; \
    int found = wait; \
    if (found || left <= 0) return found; \
  }

int poll(struct pollfd *all, nfds_t count, int millis) {
  NEXT(poll);
  if (millis <= 0) return next(all, count, millis);
  IN_SLICES(millis, next(all, count, slice))
}

/* What poll is called where the length of the array is checked. */
int __poll_chk(struct pollfd *all, nfds_t count, int millis, size_t length) {
  (void) length;
  return poll(all, count, millis);
}

int ppoll(struct pollfd *all, nfds_t count, const struct timespec *time, const sigset_t *signals) {
  NEXT(ppoll);
  if (!time) return next(all, count, time, signals);
  long long end = after(nanos(time));
  for (;;) {
    long long left = end - now(CLOCK_MONOTONIC);
    struct timespec slice = timespec_of(left <= 0 ? 0 : left < SLICE ? left : SLICE);
    int found = next(all, count, &slice, signals);
    if (found || left <= 0) return found;
  }
}

int epoll_wait(int epoll, struct epoll_event *events, int most, int millis) {
  NEXT(epoll_wait);
  if (millis <= 0) return next(epoll, events, most, millis);
  IN_SLICES(millis, next(epoll, events, most, slice))
}

int epoll_pwait(int epoll, struct epoll_event *events, int most, int millis, const sigset_t *signals) {
  NEXT(epoll_pwait);
  if (millis <= 0) return next(epoll, events, most, millis, signals);
  IN_SLICES(millis, next(epoll, events, most, slice, signals))
}

/* ---- threads: their waits end at a moment of a moved clock */

static struct timespec slice_until(clockid_t clock, const struct timespec *time) {
  long long left = nanos(time) - now(clock);
  return timespec_of(unmoved(clock) + (left <= 0 ? 0 : left < SLICE ? left : SLICE));
}

/* The end of a slice is a wake-up without a cause, after which every caller looks at its condition. To wait on at once
 * would miss who has changed it at the end of the slice, and signals when it has let the mutex go. */
static int after_slice(clockid_t clock, const struct timespec *time, int failed) {
  return failed == ETIMEDOUT && nanos(time) > now(clock) ? 0 : failed;
}

/* Which clock a condition goes by only its maker knows. */
static clockid_t clock_of(const struct timespec *time) {
  return time->tv_sec >= FIRST_WALL_SECOND ? CLOCK_REALTIME : CLOCK_MONOTONIC;
}

int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *time) {
  static int (*next)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
  if (!next) next = (__typeof__(next)) dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2"); /* on x86 */
  if (!next) next = (__typeof__(next)) dlsym(RTLD_NEXT, "pthread_cond_timedwait");
  clockid_t clock = clock_of(time);
  struct timespec slice = slice_until(clock, time);
  return after_slice(clock, time, next(condition, mutex, &slice));
}

int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock,
                           const struct timespec *time) {
  NEXT(pthread_cond_clockwait);
  struct timespec slice = slice_until(clock, time);
  return after_slice(clock, time, next(condition, mutex, clock, &slice));
}

int sem_timedwait(sem_t *semaphore, const struct timespec *time) {
  NEXT(sem_timedwait);
  for (;;) {
    struct timespec slice = slice_until(CLOCK_REALTIME, time);
    if (!next(semaphore, &slice)) return 0;
    if (errno != ETIMEDOUT || nanos(time) <= now(CLOCK_REALTIME)) return -1;
  }
}
