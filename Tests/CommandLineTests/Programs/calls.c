/*
 * An LD_PRELOAD library that counts the system calls on files, and the entries of folders that are read, and at the end
 * writes the count to the file CALLS_FILE. Processes that fork(2) made count together.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static atomic_long early;
static atomic_long *calls = &early;

__attribute__((constructor)) static void begin(void) {
    void *page = mmap(NULL, sizeof(early), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) abort();
    atomic_store((atomic_long *)page, atomic_load(&early));
    calls = page;
}

__attribute__((destructor)) static void end(void) {
    const char *path = getenv("CALLS_FILE");
    FILE *file = path != NULL ? fopen(path, "w") : NULL;
    if (file == NULL) return;
    fprintf(file, "%ld\n", atomic_load(calls));
    fclose(file);
}

#define COUNTED(result, name, parameters, ...)                                                                         \
    result name parameters {                                                                                           \
        static result(*_Atomic next) parameters;                                                                       \
        if (next == NULL) *(void **)&next = dlsym(RTLD_NEXT, #name);                                                   \
        atomic_fetch_add(calls, 1);                                                                                   \
        return next(__VA_ARGS__);                                                                                      \
    }

COUNTED(struct dirent *, readdir, (DIR * folder), folder)
COUNTED(struct dirent64 *, readdir64, (DIR * folder), folder)
COUNTED(ssize_t, read, (int file, void *bytes, size_t count), file, bytes, count)
COUNTED(ssize_t, write, (int file, const void *bytes, size_t count), file, bytes, count)
COUNTED(ssize_t, pread, (int file, void *bytes, size_t count, off_t at), file, bytes, count, at)
COUNTED(ssize_t, pread64, (int file, void *bytes, size_t count, off64_t at), file, bytes, count, at)
COUNTED(ssize_t, pwrite, (int file, const void *bytes, size_t count, off_t at), file, bytes, count, at)
COUNTED(ssize_t, pwrite64, (int file, const void *bytes, size_t count, off64_t at), file, bytes, count, at)
COUNTED(int, stat, (const char *path, struct stat *status), path, status)
COUNTED(int, stat64, (const char *path, struct stat64 *status), path, status)
COUNTED(int, lstat, (const char *path, struct stat *status), path, status)
COUNTED(int, fstat, (int file, struct stat *status), file, status)
COUNTED(int, fstat64, (int file, struct stat64 *status), file, status)
COUNTED(int, fstatat, (int folder, const char *path, struct stat *status, int flags), folder, path, status, flags)
COUNTED(int, access, (const char *path, int mode), path, mode)
COUNTED(int, fsync, (int file), file)
COUNTED(int, fdatasync, (int file), file)
COUNTED(int, flock, (int file, int operation), file, operation)
COUNTED(int, unlinkat, (int folder, const char *path, int flags), folder, path, flags)
COUNTED(int, renameat, (int from, const char *path, int to, const char *target), from, path, to, target)

static mode_t mode(int flags, va_list rest) { return flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0; }

#define COUNTED_OPEN(name, parameters, ...)                                                                            \
    int name parameters {                                                                                              \
        static int(*_Atomic next) parameters;                                                                          \
        if (next == NULL) *(void **)&next = dlsym(RTLD_NEXT, #name);                                                   \
        atomic_fetch_add(calls, 1);                                                                                   \
        va_list rest;                                                                                                  \
        va_start(rest, flags);                                                                                         \
        const mode_t given = mode(flags, rest);                                                                        \
        va_end(rest);                                                                                                  \
        return next(__VA_ARGS__, given);                                                                               \
    }

COUNTED_OPEN(open, (const char *path, int flags, ...), path, flags)
COUNTED_OPEN(open64, (const char *path, int flags, ...), path, flags)
COUNTED_OPEN(openat, (int folder, const char *path, int flags, ...), folder, path, flags)
COUNTED_OPEN(openat64, (int folder, const char *path, int flags, ...), folder, path, flags)

long syscall(long number, ...) {
    static long (*_Atomic next)(long, ...);
    if (next == NULL) *(void **)&next = dlsym(RTLD_NEXT, "syscall");
    atomic_fetch_add(calls, 1);
    va_list rest;
    va_start(rest, number);
    long given[6];
    for (int index = 0; index < 6; index++) given[index] = va_arg(rest, long);
    va_end(rest);
    return next(number, given[0], given[1], given[2], given[3], given[4], given[5]);
}
