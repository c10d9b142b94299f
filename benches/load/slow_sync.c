/* A slower disk, as a network volume is: preloaded (LD_PRELOAD), it makes fdatasync and fsync take SLOW_SYNC_US microseconds longer.
   The gateway (RocksDB) and PostgreSQL both call these two functions of the C library, so both get the same disk.
   cc -O2 -shared -fPIC -o slow_sync.so slow_sync.c -ldl */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <time.h>

static void rest(void) {
  static long us = -1;
  if (us < 0) {
    const char *text = getenv("SLOW_SYNC_US");
    us = text ? atol(text) : 0;
  }
  struct timespec left = {us / 1000000, us % 1000000 * 1000};
  while (us > 0 && nanosleep(&left, &left) && errno == EINTR) {
  }
}

static int slow(const char *name, int file) {
  int (*real)(int) = dlsym(RTLD_NEXT, name);
  int outcome = real(file), error = errno;
  rest();
  errno = error;
  return outcome;
}

int fdatasync(int file) { return slow("fdatasync", file); }
int fsync(int file) { return slow("fsync", file); }
