/* Preloaded into a JVM, counts in the file HOLDFAST_CALLS how it writes SQLite files: forced writes, bytes of logs (-wal),
 * bytes of databases. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SYNCS, LOG_BYTES, DATABASE_BYTES, COUNTERS };

static long long *counters;

__attribute__((constructor)) static void share(void) {
  const char *file = getenv("HOLDFAST_CALLS");
  int opened = file ? open(file, O_RDWR | O_CLOEXEC) : -1;
  if (opened < 0) return;
  void *shared = mmap(NULL, COUNTERS * sizeof *counters, PROT_READ | PROT_WRITE, MAP_SHARED, opened, 0);
  if (shared != MAP_FAILED) counters = shared;
  close(opened);
}

static void add(int counter, long long count) {
  __atomic_fetch_add(&counters[counter], count, __ATOMIC_RELAXED);
}

static ssize_t written(int file, ssize_t bytes) {
  char link[32], name[4096];
  if (counters && bytes > 0) {
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, name, sizeof name - 1);
    name[length > 0 ? length : 0] = 0;
    if (strstr(name, ".db")) add(strstr(name, "-wal") ? LOG_BYTES : DATABASE_BYTES, bytes);
  }
  return bytes;
}

ssize_t write(int file, const void *bytes, size_t count) {
  return written(file, syscall(SYS_write, file, bytes, count));
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t at) {
  return written(file, syscall(SYS_pwrite64, file, bytes, count, at));
}

ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t at) {
  return written(file, syscall(SYS_pwrite64, file, bytes, count, at));
}

int fsync(int file) {
  if (counters) add(SYNCS, 1);
  return syscall(SYS_fsync, file);
}

int fdatasync(int file) {
  if (counters) add(SYNCS, 1);
  return syscall(SYS_fdatasync, file);
}
