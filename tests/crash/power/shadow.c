/* A power cut, emulated below a process: preloaded (LD_PRELOAD), this keeps a shadow of a folder that holds only what was
   made durable, in the strictest sense of POSIX. The process may then be killed, and the shadow is what a disk would have
   kept (disk.rs makes a folder of it).

   What is durable, and nothing else:
   - the content of a file: as it was at some time during its last fsync or fdatasync;
   - the names in a folder: as they were at some time during its last fsync. A synced file whose folder was not synced has
     no name; a renamed file has its old one; a removed file comes back. Names lead to inodes, so whatever was synced of a
     file under its old name, or through a second one, is what every name of it shows.
   The sync of a new file makes nothing of its own name durable. Today's ext4 and xfs do make it so; POSIX does not say it.

   Not interposed, as they promise nothing: sync_file_range, fallocate, ftruncate, writes. Not known here, so that they end
   the process: files that are opened with O_SYNC or O_DSYNC, and files that are mapped for shared writing.

   Only the end of a large file that has grown is copied, and a part before it of RocksDB's log, which has zeros ahead of
   its end: whoever overwrites its beginning is not seen.

   POWER_ROOT    the folder, an absolute path without links
   POWER_SHADOW  the shadow, on the same disk: files/INODE the content of a file, folders/KEY the names in a folder, and
                 held/INODE a link to the file itself, so that no inode is used twice
   POWER_OFF_AT  the number of syncs in the folder after which the process is killed, by SIGKILL, before the last returns
   POWER_IGNORE  patterns of paths below POWER_ROOT (fnmatch; `.` is the folder itself), separated by colons, whose syncs do
                 nothing: a disk that lies, for seeing that tests notice

   cc -O2 -shared -fPIC -pthread -o shadow.so shadow.c */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A file up to this size is copied whole at each sync; of a larger one that has grown, the new end. */
#define WHOLE_BYTES (4 << 20)
#define BUFFER_BYTES (256 << 10)
#define LOCKS 64

static const char *root, *shadow, *ignored;
static long off_at;
static atomic_long syncs;
static pthread_mutex_t locks[LOCKS] = {[0 ... LOCKS - 1] = PTHREAD_MUTEX_INITIALIZER};

__attribute__((constructor)) static void begin(void) {
  const char *at = getenv("POWER_OFF_AT");
  off_at = at ? atol(at) : 0;
  ignored = getenv("POWER_IGNORE");
  shadow = getenv("POWER_SHADOW");
  if (shadow) root = getenv("POWER_ROOT");
}

/* A shadow that is not right would find faults that are none, or none where there are some. */
__attribute__((noreturn)) static void die(const char *what, const char *where) {
  fprintf(stderr, "power cut: %s: %s (%s)\n", what, where, strerror(errno));
  abort();
}

/* The path of an open file below the folder, "." for the folder itself; none if it is elsewhere. */
static const char *inside(int file, char path[PATH_MAX]) {
  char link[64];
  if (!root) return NULL;
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, PATH_MAX - 1);
  if (length < 0) return NULL;
  path[length] = 0;
  size_t before = strlen(root);
  if (strncmp(path, root, before)) return NULL;
  return path[before] == '/' ? path + before + 1 : path[before] ? NULL : ".";
}

static int is_ignored(const char *path) {
  char patterns[PATH_MAX], *rest = patterns, *pattern;
  if (!ignored) return 0;
  snprintf(patterns, sizeof patterns, "%s", ignored);
  while ((pattern = strsep(&rest, ":")))
    if (!fnmatch(pattern, path, 0)) return 1;
  return 0;
}

/* A path in the shadow. */
static void placed(char out[PATH_MAX], const char *kind, const char *name) {
  if (snprintf(out, PATH_MAX, "%s/%s/%s", shadow, kind, name) >= PATH_MAX) die("the path is too long", name);
}

/* Keeps the inode of an open file from being used again; false if the file has no name any more and never was in the shadow,
   so that nothing durable can lead to it. */
static int held(int file, ino_t inode) {
  char link[64], name[32], place[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  snprintf(name, sizeof name, "%lu", (unsigned long)inode);
  placed(place, "held", name);
  if (!linkat(AT_FDCWD, link, AT_FDCWD, place, AT_SYMLINK_FOLLOW) || errno == EEXIST) return 1;
  if (errno != ENOENT) die("cannot hold", place);
  return access(place, F_OK) == 0;
}

/* Copies the content of a file that was synced. Nothing that was durable is gone at any instant, should the process be
   killed here: bytes are overwritten by their newer ones, then added, then cut off. */
static void copy(int file, const struct stat *found) {
  char name[32], place[PATH_MAX], link[64];
  snprintf(name, sizeof name, "%lu", (unsigned long)found->st_ino);
  placed(place, "files", name);
  /* The file may be open for writing alone. */
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  int from = open(link, O_RDONLY | O_CLOEXEC), to = open(place, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  struct stat before;
  if (from < 0 || to < 0 || fstat(to, &before)) die("cannot copy", place);
  char *buffer = malloc(BUFFER_BYTES);
  if (!buffer) die("no memory", place);
  char target[PATH_MAX];
  ssize_t length = readlink(link, target, sizeof target);
  int is_log = length > 4 && !memcmp(target + length - 4, ".log", 4);
  off_t least = found->st_size < before.st_size ? found->st_size : before.st_size, at = 0;
  if (found->st_size > WHOLE_BYTES && is_log) at = least > WHOLE_BYTES ? least - WHOLE_BYTES : 0;
  else if (found->st_size > WHOLE_BYTES && found->st_size > before.st_size) at = before.st_size;
  ssize_t got;
  while ((got = pread(from, buffer, BUFFER_BYTES, at)) > 0) {
    if (pwrite(to, buffer, got, at) != got) die("cannot write", place);
    at += got;
  }
  if (got < 0 || (at < before.st_size && ftruncate(to, at))) die("cannot copy", place);
  free(buffer);
  close(from);
  close(to);
}

/* What one entry of a folder is, as a line: `f INODE NAME` or `d KEY NAME`; the length, 0 if the entry is gone. */
static size_t line(int folder, const char *name, char *out, size_t room) {
  struct statx found;
  int file = openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0 && errno == ENOENT) return 0;
  if (file < 0 || statx(file, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &found)) die("cannot look at", name);
  size_t length = 0;
  unsigned long inode = found.stx_ino;
  if (S_ISDIR(found.stx_mode))
    length = snprintf(out, room, "d %lu-%lld.%09u %s\n", inode, (long long)found.stx_btime.tv_sec, found.stx_btime.tv_nsec, name);
  else if (S_ISREG(found.stx_mode) && held(file, inode))
    length = snprintf(out, room, "f %lu %s\n", inode, name);
  close(file);
  if (length >= room) die("the line is too long", name);
  return length;
}

static int by_text(const void *one, const void *other) { return strcmp(*(char *const *)one, *(char *const *)other); }

/* The names in a folder, sorted, as one text. */
static char *names(int folder, const char *path) {
  int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *entries = again < 0 ? NULL : fdopendir(again);
  if (!entries) die("cannot list", path);
  char **lines = NULL, one[NAME_MAX + 96];
  size_t count = 0, bytes = 1;
  for (struct dirent *entry; (entry = readdir(entries));) {
    if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
    size_t length = line(folder, entry->d_name, one, sizeof one);
    if (!length) continue;
    lines = realloc(lines, (count + 1) * sizeof *lines);
    if (!lines || !(lines[count++] = strdup(one))) die("no memory", path);
    bytes += length;
  }
  closedir(entries);
  if (count) qsort(lines, count, sizeof *lines, by_text);
  char *text = malloc(bytes), *end = text;
  if (!text) die("no memory", path);
  for (size_t at = 0; at < count; at++) {
    end = stpcpy(end, lines[at]);
    free(lines[at]);
  }
  *end = 0;
  free(lines);
  return text;
}

/* Keeps the names of a folder that was synced. A listing during which something is renamed may show it nowhere: it is made
   again until two are the same. */
static void list(int folder, const char *path) {
  struct statx found;
  if (statx(folder, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &found)) die("cannot look at", path);
  if (!(found.stx_mask & STATX_BTIME)) die("this file system does not say when a folder was made", path);
  char *text = names(folder, path), *again = names(folder, path);
  while (strcmp(text, again)) {
    free(text);
    text = again;
    again = names(folder, path);
  }
  char key[96], place[PATH_MAX], part[PATH_MAX];
  snprintf(key, sizeof key, "%lu-%lld.%09u", (unsigned long)found.stx_ino, (long long)found.stx_btime.tv_sec,
           found.stx_btime.tv_nsec);
  placed(place, "folders", key);
  snprintf(key + strlen(key), 32, ".%ld", (long)syscall(SYS_gettid));
  placed(part, "parts", key);
  int file = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  ssize_t length = (ssize_t)strlen(text);
  if (file < 0 || write(file, text, length) != length || rename(part, place)) die("cannot keep the names", place);
  close(file);
  free(text);
  free(again);
}

/* Counts a sync; the one at which the power goes never returns. */
static void count(void) {
  if (atomic_fetch_add(&syncs, 1) + 1 != off_at) return;
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

static int synced(long call, int file) {
  int outcome = (int)syscall(call, file), error = errno;
  char path[PATH_MAX];
  struct stat found;
  const char *place = outcome ? NULL : inside(file, path);
  if (place && !fstat(file, &found)) {
    if (!is_ignored(place)) {
      /* Of two at once the later copy is the newer one. */
      pthread_mutex_t *lock = &locks[found.st_ino % LOCKS];
      pthread_mutex_lock(lock);
      if (S_ISDIR(found.st_mode)) list(file, place);
      else if (S_ISREG(found.st_mode) && held(file, found.st_ino) && !fstat(file, &found)) copy(file, &found);
      pthread_mutex_unlock(lock);
    }
    count();
  }
  errno = error;
  return outcome;
}

int fsync(int file) { return synced(SYS_fsync, file); }
int fdatasync(int file) { return synced(SYS_fdatasync, file); }

/* Writes that are durable without a sync are not known here. */
static int opened(int folder, const char *path, int flags, mode_t mode) {
  int file = (int)syscall(SYS_openat, folder, path, flags, mode);
  char place[PATH_MAX];
  if (file >= 0 && (flags & O_DSYNC) && inside(file, place)) die("opened with O_SYNC or O_DSYNC", place);
  return file;
}

#define MODE(flags, last) \
  mode_t mode = 0; \
  if (__OPEN_NEEDS_MODE(flags)) { \
    va_list rest; \
    va_start(rest, last); \
    mode = va_arg(rest, mode_t); \
    va_end(rest); \
  }

int open(const char *path, int flags, ...) {
  MODE(flags, flags)
  return opened(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...) {
  MODE(flags, flags)
  return opened(AT_FDCWD, path, flags | O_LARGEFILE, mode);
}

int openat(int folder, const char *path, int flags, ...) {
  MODE(flags, flags)
  return opened(folder, path, flags, mode);
}

int openat64(int folder, const char *path, int flags, ...) {
  MODE(flags, flags)
  return opened(folder, path, flags | O_LARGEFILE, mode);
}

/* No `dlsym` here: it may ask for memory, which comes from here. */
void *mmap(void *at, size_t length, int protection, int flags, int file, off_t offset) {
  char path[PATH_MAX];
  if (file >= 0 && (flags & MAP_SHARED) && (protection & PROT_WRITE) && inside(file, path))
    die("mapped for shared writing", path);
  return (void *)syscall(SYS_mmap, at, length, protection, flags, file, offset);
}

void *mmap64(void *at, size_t length, int protection, int flags, int file, off_t offset) {
  return mmap(at, length, protection, flags, file, offset);
}
