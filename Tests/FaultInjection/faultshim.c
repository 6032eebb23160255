/* Fault injection for file-system campaigns: an LD_PRELOAD library for glibc on x86_64 and aarch64.
 *
 *     cc -std=c11 -O2 -Wall -Wextra -Werror -shared -fPIC -o faultshim.so Tests/FaultInjection/fault*.c
 *     LD_PRELOAD=$PWD/faultshim.so LD_FAULT_ROOT=/tmp/store LD_FAULT_LOG=/tmp/log program
 *
 * It numbers, from 1 and over all threads, the calls below that can change a file system under a root, and can make
 * one of them fail, or kill the process there. Use absolute paths in the settings; an empty one counts as unset.
 *
 * LD_FAULT_ROOT=DIR[:DIR...]  Only calls on these directories and what is below. The path of a call is absolute and
 *                  lexically normalised; a descriptor has the path that /proc/self/fd shows, an unlinked file its old
 *                  one. A call on two paths counts if either is below. `sync` counts always. Unset: everything but
 *                  descriptors 0, 1, 2, pipes, sockets, memory files, and devices (/dev without /dev/shm).
 * LD_FAULT_LOG=FILE           Appends a line per counted call when it has returned:
 *                  number, name, path, perhaps second path, result, separated by tabs. A tab, newline or backslash in
 *                  a path is \t, \n or \\. The result is the number returned (0 for a pointer) or -ERRNO_NAME, and of
 *                  a call that kills, what was done: killed-before, killed-torn, killed-after.
 *                  The names with 64 (open64) and __open_2 are logged without.
 * LD_FAULT_AT=N               The call to hit. 0 or unset: none.
 * LD_FAULT_MODE=   kill-before  SIGKILL, the call isn't made
 *                  kill-torn    half the call, then SIGKILL: the first half of the bytes (rounded down) of a write or
 *                               copy, of what the source still holds if that is less; ftruncate and truncate get half
 *                               way from the present size to the new one; fallocate half of the range. What has no
 *                               half (less than 2 bytes, or another call) is as kill-before, and logged so
 *                  kill-after   the call, then SIGKILL
 *                  eio, enospc  the call isn't made and fails with that error
 *                  eio-after    the call is made and fails with EIO all the same, as fsync and rename over NFS do; a
 *                               descriptor that it opened is closed
 *                  short        a write or copy does half of its bytes and says so; other calls are made as they are
 *                  stop         SIGSTOP; the call is made once the process is continued
 * LD_FAULT_EVERY=1            That call and every later one.
 * LD_FAULT_COUNT=FILE         The number of calls so far, 8 bytes little endian, always current, also when killed. The
 *                  processes that are given the same file share the numbering; the file is never reset. Without it
 *                  each process counts for itself, and a fork goes on from its parent's number.
 *
 * A setting that can't be followed ends the program at start with status 125. A program that forks processes for others
 * can look up `ld_fault_configure_again` with dlsym(3) and call it in the new process, which has one thread, after it has
 * changed the environment: the settings are read again, and calls are numbered from 1.
 *
 * Opening a file counts only if it creates or truncates one. While a process kills itself, its other threads are held
 * at their next counted call. The library uses no heap, and 50 KiB of stack at a counted call; calls that libc does in
 * more than one step (fopen, freopen, posix_fallocate, mkstemp, mkdtemp, fchmodat with flags) go on to libc.
 *
 * Not seen: the writes of stdio (fwrite, fprintf, fclose), which libc makes inside itself; stores to mapped memory;
 * io_uring; ioctl (FICLONE); utime, utimes, futimes, lutimes, futimesat; system calls by number that are not in the
 * list at the end of this file, or made without libc; paths that, made absolute, are longer than 4095 bytes; a root
 * reached through a symbolic link other than the one in LD_FAULT_ROOT. Programs that get no LD_PRELOAD: setuid,
 * static, or started with another environment. */
#include "faultshim.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

/* libc's own `name`, in a function pointer of its type. */
#define NEXT(name) ((__typeof__(&name))next(#name))

/* Only for calls that are slow anyway: the search isn't cached. */
static void *next(const char *name) {
    return dlsym(RTLD_NEXT, name);
}

/* The kernel's result as libc's: -1 and errno. Leaves errno alone on success. */
static long give(long result) {
    if (result >= 0 || result < -4095) return result;
    errno = (int)-result;
    return -1;
}

/* A replaced call: return type, name, parameters; how it is made and what its target is; the kernel's arguments. */
#define TARGET(kind, index) .shape = FAULT_##kind, .at = (index),
#define TEARS(kind, index) .tear = TEAR_##kind, .amount = (index),
#define TEARS_COPY(index, from, where) .tear = TEAR_COPY, .amount = (index), .source = (from), .offset = (where),
#define CANCELLABLE .cancellable = true,
#define BY(function) .run = function,
#define IF(function) .counts = function,
#define UNDONE_BY(function) .undo = function,

#define DESCRIBE(name_, number_, ...) \
    static const struct fault_call call_##name_ = {.name = #name_, .number = (number_), __VA_ARGS__};
#define PERFORM(name, ...) fault_perform(&call_##name, (const long[6]){__VA_ARGS__})
#define REPLACE(type, name, parameters, number, traits, ...) \
    DESCRIBE(name, number, traits) \
    type name parameters { \
        return (type)give(PERFORM(name, __VA_ARGS__)); \
    }
/* On x86_64 and aarch64 the variant for large files is the same function. */
#if defined(__GNUC__) && !defined(__clang__)
#define ALSO(variant, name) extern __typeof__(name) variant __attribute__((alias(#name), copy(name)));
#else
#define ALSO(variant, name) extern __typeof__(name) variant __attribute__((alias(#name)));
#endif

/* --- content --- */

REPLACE(ssize_t, write, (int fd, const void *data, size_t size), SYS_write,
        TARGET(FD, 0) TEARS(BYTES, 2) CANCELLABLE, fd, L(data), L(size))
REPLACE(ssize_t, pwrite, (int fd, const void *data, size_t size, off_t offset), SYS_pwrite64,
        TARGET(FD, 0) TEARS(BYTES, 2) CANCELLABLE, fd, L(data), L(size), offset)
ALSO(pwrite64, pwrite)
REPLACE(ssize_t, writev, (int fd, const struct iovec *vector, int count), SYS_writev,
        TARGET(FD, 0) TEARS(VECTOR, 1) CANCELLABLE, fd, L(vector), count)
REPLACE(ssize_t, pwritev, (int fd, const struct iovec *vector, int count, off_t offset), SYS_pwritev,
        TARGET(FD, 0) TEARS(VECTOR, 1) CANCELLABLE, fd, L(vector), count, offset)
ALSO(pwritev64, pwritev)
REPLACE(ssize_t, pwritev2, (int fd, const struct iovec *vector, int count, off_t offset, int flags), SYS_pwritev2,
        TARGET(FD, 0) TEARS(VECTOR, 1) CANCELLABLE, fd, L(vector), count, offset, 0, flags)
ALSO(pwritev64v2, pwritev2)
REPLACE(ssize_t, sendfile, (int out, int in, off_t *offset, size_t size), SYS_sendfile,
        TARGET(FD, 0) TEARS_COPY(3, 1, 2), out, in, L(offset), L(size))
ALSO(sendfile64, sendfile)
REPLACE(ssize_t, copy_file_range, (int in, off_t *from, int out, off_t *to, size_t size, unsigned flags),
        SYS_copy_file_range, TARGET(FD, 2) TEARS_COPY(4, 0, 1) CANCELLABLE,
        in, L(from), out, L(to), L(size), L(flags))
REPLACE(ssize_t, splice, (int in, off_t *from, int out, off_t *to, size_t size, unsigned flags), SYS_splice,
        TARGET(FD, 2) TEARS_COPY(4, 0, 1) CANCELLABLE, in, L(from), out, L(to), L(size), L(flags))

/* --- size --- */

REPLACE(int, ftruncate, (int fd, off_t size), SYS_ftruncate, TARGET(FD, 0) TEARS(SIZE, 1), fd, size)
ALSO(ftruncate64, ftruncate)
REPLACE(int, truncate, (const char *path, off_t size), SYS_truncate, TARGET(PATH, 0) TEARS(SIZE, 1), L(path), size)
ALSO(truncate64, truncate)
REPLACE(int, fallocate, (int fd, int mode, off_t offset, off_t size), SYS_fallocate,
        TARGET(FD, 0) TEARS(RANGE, 3) CANCELLABLE, fd, mode, offset, size)
ALSO(fallocate64, fallocate)

/* libc writes zeros where the file system can't allocate. Its result is a positive error number. */
static long run_posix_fallocate(const long a[6]) {
    return -NEXT(posix_fallocate)((int)a[0], a[1], a[2]);
}
DESCRIBE(posix_fallocate, 0, TARGET(FD, 0) TEARS(RANGE, 2) BY(run_posix_fallocate))
int posix_fallocate(int fd, off_t offset, off_t size) {
    return (int)-PERFORM(posix_fallocate, fd, offset, size);
}
ALSO(posix_fallocate64, posix_fallocate)

/* --- durability --- */

REPLACE(int, fsync, (int fd), SYS_fsync, TARGET(FD, 0) CANCELLABLE, fd)
REPLACE(int, fdatasync, (int fd), SYS_fdatasync, TARGET(FD, 0) CANCELLABLE, fd)
REPLACE(int, syncfs, (int fd), SYS_syncfs, TARGET(FD, 0), fd)
REPLACE(int, sync_file_range, (int fd, off_t offset, off_t size, unsigned flags), SYS_sync_file_range,
        TARGET(FD, 0) CANCELLABLE, fd, offset, size, L(flags))
REPLACE(int, msync, (void *address, size_t size, int flags), SYS_msync,
        TARGET(ADDRESS, 0) CANCELLABLE, L(address), L(size), flags)
DESCRIBE(sync, SYS_sync, TARGET(ALL, 0))
void sync(void) {
    PERFORM(sync, 0);
}

/* --- names --- */

REPLACE(int, rename, (const char *from, const char *to), SYS_renameat2,
        TARGET(TWO, 0), AT_FDCWD, L(from), AT_FDCWD, L(to))
REPLACE(int, renameat, (int fromfd, const char *from, int tofd, const char *to), SYS_renameat2,
        TARGET(TWO, 0), fromfd, L(from), tofd, L(to))
REPLACE(int, renameat2, (int fromfd, const char *from, int tofd, const char *to, unsigned flags), SYS_renameat2,
        TARGET(TWO, 0), fromfd, L(from), tofd, L(to), L(flags))
REPLACE(int, link, (const char *from, const char *to), SYS_linkat,
        TARGET(TWO, 0), AT_FDCWD, L(from), AT_FDCWD, L(to))
REPLACE(int, linkat, (int fromfd, const char *from, int tofd, const char *to, int flags), SYS_linkat,
        TARGET(TWO, 0), fromfd, L(from), tofd, L(to), flags)
REPLACE(int, symlink, (const char *content, const char *path), SYS_symlinkat,
        TARGET(AT, 1), L(content), AT_FDCWD, L(path))
REPLACE(int, symlinkat, (const char *content, int dirfd, const char *path), SYS_symlinkat,
        TARGET(AT, 1), L(content), dirfd, L(path))
REPLACE(int, unlink, (const char *path), SYS_unlinkat, TARGET(AT, 0), AT_FDCWD, L(path))
REPLACE(int, unlinkat, (int dirfd, const char *path, int flags), SYS_unlinkat, TARGET(AT, 0), dirfd, L(path), flags)
REPLACE(int, rmdir, (const char *path), SYS_unlinkat, TARGET(AT, 0), AT_FDCWD, L(path), AT_REMOVEDIR)

static long run_remove(const long a[6]) {
    long result = RAW(SYS_unlinkat, AT_FDCWD, a[0], 0);
    return result == -EISDIR ? RAW(SYS_unlinkat, AT_FDCWD, a[0], AT_REMOVEDIR) : result;
}
REPLACE(int, remove, (const char *path), 0, TARGET(PATH, 0) BY(run_remove), L(path))

REPLACE(int, mkdir, (const char *path, mode_t mode), SYS_mkdirat, TARGET(AT, 0), AT_FDCWD, L(path), L(mode))
REPLACE(int, mkdirat, (int dirfd, const char *path, mode_t mode), SYS_mkdirat, TARGET(AT, 0), dirfd, L(path), L(mode))

/* The kernel knows device numbers of 32 bits. */
static long run_mknodat(const long a[6]) {
    return a[3] == (long)(unsigned)a[3] ? RAW(SYS_mknodat, a[0], a[1], a[2], a[3]) : -EINVAL;
}
REPLACE(int, mknod, (const char *path, mode_t mode, dev_t device), 0,
        TARGET(AT, 0) BY(run_mknodat), AT_FDCWD, L(path), L(mode), L(device))
REPLACE(int, mknodat, (int dirfd, const char *path, mode_t mode, dev_t device), 0,
        TARGET(AT, 0) BY(run_mknodat), dirfd, L(path), L(mode), L(device))

/* --- attributes --- */

REPLACE(int, setxattr, (const char *path, const char *name, const void *value, size_t size, int flags), SYS_setxattr,
        TARGET(PATH, 0), L(path), L(name), L(value), L(size), flags)
REPLACE(int, lsetxattr, (const char *path, const char *name, const void *value, size_t size, int flags),
        SYS_lsetxattr, TARGET(PATH, 0), L(path), L(name), L(value), L(size), flags)
REPLACE(int, fsetxattr, (int fd, const char *name, const void *value, size_t size, int flags), SYS_fsetxattr,
        TARGET(FD, 0), fd, L(name), L(value), L(size), flags)
REPLACE(int, removexattr, (const char *path, const char *name), SYS_removexattr, TARGET(PATH, 0), L(path), L(name))
REPLACE(int, lremovexattr, (const char *path, const char *name), SYS_lremovexattr, TARGET(PATH, 0), L(path), L(name))
REPLACE(int, fremovexattr, (int fd, const char *name), SYS_fremovexattr, TARGET(FD, 0), fd, L(name))

/* The kernel's call takes no flags; libc emulates them. */
static long run_fchmodat(const long a[6]) {
    if (a[3] == 0) return RAW(SYS_fchmodat, a[0], a[1], a[2]);
    return NEXT(fchmodat)((int)a[0], (const char *)a[1], (mode_t)a[2], (int)a[3]) < 0 ? -errno : 0;
}
REPLACE(int, chmod, (const char *path, mode_t mode), SYS_fchmodat, TARGET(AT, 0), AT_FDCWD, L(path), L(mode))
REPLACE(int, fchmod, (int fd, mode_t mode), SYS_fchmod, TARGET(FD, 0), fd, L(mode))
REPLACE(int, fchmodat, (int dirfd, const char *path, mode_t mode, int flags), 0,
        TARGET(AT, 0) BY(run_fchmodat), dirfd, L(path), L(mode), flags)
REPLACE(int, chown, (const char *path, uid_t owner, gid_t group), SYS_fchownat,
        TARGET(AT, 0), AT_FDCWD, L(path), L(owner), L(group))
REPLACE(int, fchown, (int fd, uid_t owner, gid_t group), SYS_fchown, TARGET(FD, 0), fd, L(owner), L(group))
REPLACE(int, lchown, (const char *path, uid_t owner, gid_t group), SYS_fchownat,
        TARGET(AT, 0), AT_FDCWD, L(path), L(owner), L(group), AT_SYMLINK_NOFOLLOW)
REPLACE(int, fchownat, (int dirfd, const char *path, uid_t owner, gid_t group, int flags), SYS_fchownat,
        TARGET(AT, 0), dirfd, L(path), L(owner), L(group), flags)

/* The kernel takes a missing path for the descriptor itself; in libc only futimens may do so. */
static long run_utimensat(const long a[6]) {
    return a[1] != 0 ? RAW(SYS_utimensat, a[0], a[1], a[2], a[3]) : -EINVAL;
}
REPLACE(int, utimensat, (int dirfd, const char *path, const struct timespec times[2], int flags), 0,
        TARGET(AT, 0) BY(run_utimensat), dirfd, L(path), L(times), flags)
REPLACE(int, futimens, (int fd, const struct timespec times[2]), SYS_utimensat, TARGET(FD, 0), fd, 0, L(times))

/* --- opening --- */

static bool open_counts(const long a[6]) {
    int flags = (int)a[2];
    if (flags & O_PATH) return false;
    if ((flags & O_TMPFILE) == O_TMPFILE) return true;
    if (!(flags & (O_CREAT | O_TRUNC))) return false;
    bool exclusive = (flags & O_CREAT) && (flags & O_EXCL);
    int nofollow = exclusive || (flags & O_NOFOLLOW) ? AT_SYMLINK_NOFOLLOW : 0;
    struct statx file;
    long status = RAW(SYS_statx, a[0], a[1], nofollow, STATX_TYPE, &file);
    if (status < 0) return status == -ENOENT && (flags & O_CREAT);
    return (flags & O_TRUNC) && !exclusive && S_ISREG(file.stx_mode);
}

static void close_opened(const long a[6], long result) {
    (void)a;
    if (result >= 0) RAW(SYS_close, result);
}

DESCRIBE(openat, SYS_openat, TARGET(AT, 0) IF(open_counts) UNDONE_BY(close_opened) CANCELLABLE)
DESCRIBE(open, SYS_openat, TARGET(AT, 0) IF(open_counts) UNDONE_BY(close_opened) CANCELLABLE)

/* The mode is there only if a file may be created. */
#define READ_MODE(mode, flags) \
    mode_t mode = 0; \
    if (((flags) & O_CREAT) || ((flags) & O_TMPFILE) == O_TMPFILE) { \
        va_list rest; \
        va_start(rest, flags); \
        mode = va_arg(rest, mode_t); \
        va_end(rest); \
    }

int open(const char *path, int flags, ...) {
    READ_MODE(mode, flags)
    return (int)give(PERFORM(open, AT_FDCWD, L(path), flags, L(mode)));
}
ALSO(open64, open)
int openat(int dirfd, const char *path, int flags, ...) {
    READ_MODE(mode, flags)
    return (int)give(PERFORM(openat, dirfd, L(path), flags, L(mode)));
}
ALSO(openat64, openat)
REPLACE(int, creat, (const char *path, mode_t mode), SYS_openat,
        TARGET(AT, 0) IF(open_counts) UNDONE_BY(close_opened) CANCELLABLE,
        AT_FDCWD, L(path), O_CREAT | O_WRONLY | O_TRUNC, L(mode))
ALSO(creat64, creat)

/* What programs built with _FORTIFY_SOURCE call when they give no mode. */
int __open_2(const char *path, int flags);
int __open_2(const char *path, int flags) {
    return (int)give(PERFORM(open, AT_FDCWD, L(path), flags));
}
ALSO(__open64_2, __open_2)
int __openat_2(int dirfd, const char *path, int flags);
int __openat_2(int dirfd, const char *path, int flags) {
    return (int)give(PERFORM(openat, dirfd, L(path), flags));
}
ALSO(__openat64_2, __openat_2)

/* The log shows the template's Xs: the name that replaces them is known too late. */
static long run_mkostemps(const long a[6]) {
    int fd = NEXT(mkostemps)((char *)a[0], (int)a[1], (int)a[2]);
    return fd < 0 ? -errno : fd;
}
#define MKSTEMP(name, parameters, suffix, flags) \
    REPLACE(int, name, parameters, 0, TARGET(PATH, 0) BY(run_mkostemps) UNDONE_BY(close_opened), \
            L(template), suffix, flags)
MKSTEMP(mkstemp, (char *template), 0, 0)
MKSTEMP(mkostemp, (char *template, int flags), 0, flags)
MKSTEMP(mkstemps, (char *template, int suffix), suffix, 0)
MKSTEMP(mkostemps, (char *template, int suffix, int flags), suffix, flags)
ALSO(mkstemp64, mkstemp)
ALSO(mkostemp64, mkostemp)
ALSO(mkstemps64, mkstemps)
ALSO(mkostemps64, mkostemps)

static long run_mkdtemp(const long a[6]) {
    return NEXT(mkdtemp)((char *)a[0]) == NULL ? -errno : 0;
}
DESCRIBE(mkdtemp, 0, TARGET(PATH, 0) BY(run_mkdtemp))
char *mkdtemp(char *template) {
    return give(PERFORM(mkdtemp, L(template))) < 0 ? NULL : template;
}

/* --- streams --- */

static bool stream_counts(const long a[6]) {
    const char *mode = (const char *)a[1];
    int flags = mode[0] == 'w' ? O_CREAT | O_TRUNC : mode[0] == 'a' ? O_CREAT : 0;
    for (const char *c = mode; *c != '\0' && *c != ','; ++c) {
        if (*c == 'x') flags |= O_EXCL;
    }
    return open_counts((const long[6]){AT_FDCWD, a[0], flags});
}

static long run_fopen(const long a[6]) {
    FILE *stream = NEXT(fopen)((const char *)a[0], (const char *)a[1]);
    return stream == NULL ? -errno : L(stream);
}
static void close_stream(const long a[6], long result) {
    (void)a;
    if (result > 0) fclose((FILE *)result);
}
DESCRIBE(fopen, 0, TARGET(PATH, 0) IF(stream_counts) BY(run_fopen) UNDONE_BY(close_stream) .pointer = true)
FILE *fopen(const char *path, const char *mode) {
    long result = give(PERFORM(fopen, L(path), L(mode)));
    return result == -1 ? NULL : (FILE *)result;
}
ALSO(fopen64, fopen)

/* Arguments: path or that of the stream's descriptor, mode, stream, path as given. */
static long run_freopen(const long a[6]) {
    FILE *stream = NEXT(freopen)((const char *)a[3], (const char *)a[1], (FILE *)a[2]);
    return stream == NULL ? -errno : L(stream);
}
/* A freopen that fails leaves the stream closed: let libc do so. */
static void fail_freopen(const long a[6], long result) {
    (void)result;
    (void)!NEXT(freopen)("", "r", (FILE *)a[2]);
}
DESCRIBE(freopen, 0, TARGET(PATH, 0) IF(stream_counts) BY(run_freopen) UNDONE_BY(fail_freopen) .pointer = true)
FILE *freopen(const char *path, const char *mode, FILE *stream) {
    char own[40];
    int saved = errno;
    if (path == NULL) snprintf(own, sizeof own, "/proc/self/fd/%d", fileno(stream));
    errno = saved;
    long result = give(PERFORM(freopen, L(path != NULL ? path : own), L(mode), L(stream), L(path)));
    return result == -1 ? NULL : (FILE *)result;
}
ALSO(freopen64, freopen)

/* --- system calls by number --- */

#define BY_NUMBER(number, name) case number: return give(fault_perform(&call_##name, a));

long syscall(long number, ...) {
    long a[6];
    va_list rest;
    va_start(rest, number);
    for (int i = 0; i < 6; ++i) a[i] = va_arg(rest, long);
    va_end(rest);
    switch (number) {
        BY_NUMBER(SYS_renameat2, renameat2)
        BY_NUMBER(SYS_copy_file_range, copy_file_range)
        BY_NUMBER(SYS_openat, openat)
        BY_NUMBER(SYS_write, write)
        BY_NUMBER(SYS_pwrite64, pwrite)
        BY_NUMBER(SYS_ftruncate, ftruncate)
        BY_NUMBER(SYS_fallocate, fallocate)
        BY_NUMBER(SYS_fsync, fsync)
        BY_NUMBER(SYS_fdatasync, fdatasync)
        BY_NUMBER(SYS_linkat, linkat)
        BY_NUMBER(SYS_unlinkat, unlinkat)
        BY_NUMBER(SYS_mkdirat, mkdirat)
    default: return give(RAW(number, a[0], a[1], a[2], a[3], a[4], a[5]));
    }
}
