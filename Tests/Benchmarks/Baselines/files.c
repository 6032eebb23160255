/*
 * Makes the file store's system calls, and nothing else: files FOLDER ATTRIBUTE [threaded]
 *
 * Reads lines "set SIZE COUNT" and "get SIZE COUNT" from standard input and answers each with the nanoseconds of one
 * operation; and "batch SIZE COUNT", with the nanoseconds of all: so many values are written, then the file system is
 * synchronized, then they are renamed, then the folder is synchronized. The program creates FOLDER. ATTRIBUTE is the
 * content of the extended attribute, as long as the store's. The 8 characters after its first space
 * are other ones each time, as the store's are: a file system may keep equal attributes only once.
 *
 * With "threaded" the program has a second thread, which sleeps. Every system call on a descriptor costs more then, since
 * the kernel counts the descriptor's uses and the C library's functions become cancellation points; a program with I/O
 * threads, as any host is, cannot avoid that.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

static _Noreturn void fail(const char *what) {
    fprintf(stderr, "error: %s: %s\n", what, strerror(errno));
    exit(1);
}

static double nanoseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* Sets the attribute, which no other file has. */
static void describe(int file, const char *attribute, unsigned long number) {
    char own[1024];
    const size_t count = strlen(attribute), digits = strcspn(attribute, " ") + 1;
    if (count > sizeof(own) || digits + 8 > count) fail("attribute");
    memcpy(own, attribute, count);
    for (int i = 0; i < 8; i++) own[digits + i] = "0123456789abcdef"[number >> 4 * i & 15];
    if (fsetxattr(file, "user.localdata", own, count, 0) != 0 && errno != ENOTSUP) fail("fsetxattr");
}

static void set(int folder, const char *path, const char *attribute, const void *value, size_t count) {
    struct stat status;
    if (fstat(folder, &status) != 0 || stat(path, &status) != 0 || fstat(folder, &status) != 0) fail("stat");
    unsigned long number;
    char temporary[64];
    if (getrandom(&number, sizeof(number), 0) != sizeof(number)) fail("getrandom");
    snprintf(temporary, sizeof(temporary), ".tmp/%lx", number);
    if (fstatat(folder, "value", &status, AT_SYMLINK_NOFOLLOW) != 0 && errno != ENOENT) fail("fstatat");
    const int file = openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0) fail("openat");
    if (flock(file, LOCK_EX | LOCK_NB) != 0) fail("flock");
    if (fstat(file, &status) != 0) fail("fstat");
    if (write(file, value, count) != (ssize_t)count) fail("write");
    if (fstat(file, &status) != 0) fail("fstat");
    describe(file, attribute, number);
    if (fsync(file) != 0) fail("fsync");
    if (renameat(folder, temporary, folder, "value") != 0) fail("renameat");
    if (fsync(folder) != 0) fail("fsync");
    close(file);
}

static void batch(int folder, const char *attribute, const void *value, size_t count, long values) {
    const long number = (long)getpid();
    char temporary[64], name[64];
    for (long i = 0; i < values; i++) {
        snprintf(temporary, sizeof(temporary), ".tmp/%lx-%ld", number, i);
        const int file = openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (file < 0) fail("openat");
        if (write(file, value, count) != (ssize_t)count) fail("write");
        describe(file, attribute, (unsigned long)i);
        close(file);
    }
    if (syncfs(folder) != 0) fail("syncfs");
    for (long i = 0; i < values; i++) {
        snprintf(temporary, sizeof(temporary), ".tmp/%lx-%ld", number, i);
        snprintf(name, sizeof(name), "value-%ld", i);
        if (renameat(folder, temporary, folder, name) != 0) fail("renameat");
    }
    if (fsync(folder) != 0) fail("fsync");
}

static void get(int folder, void *value, size_t count) {
    struct stat status;
    const int file = openat(folder, "value", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) fail("openat");
    if (fstat(file, &status) != 0 || (size_t)status.st_size != count) fail("fstat");
    if (pread(file, value, count + 1, 0) != (ssize_t)count) fail("pread");
    close(file);
    void *copy = malloc(count);
    if (copy == NULL) fail("malloc");
    memcpy(copy, value, count);
    __asm__ volatile("" : : "r"(copy) : "memory");
    free(copy);
}

static void *sleep_forever(void *context) {
    for (;;) pause();
    return context;
}

int main(int argc, char **argv) {
    if (argc != 3 && argc != 4) fail("usage: files FOLDER ATTRIBUTE [threaded]");
    pthread_t thread;
    if (argc == 4 && pthread_create(&thread, NULL, sleep_forever, NULL) != 0) fail("pthread_create");
    char path[4096];
    snprintf(path, sizeof(path), "%s/.tmp", argv[1]);
    if (mkdir(argv[1], 0700) != 0 || mkdir(path, 0700) != 0) fail(argv[1]);
    const int folder = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) fail(argv[1]);
    char action[8];
    size_t size;
    long count;
    while (scanf("%7s %zu %ld", action, &size, &count) == 3) {
        char *value = malloc(size + 1);
        if (value == NULL) fail("malloc");
        memset(value, 7, size + 1);
        const double start = nanoseconds();
        if (action[0] == 'b') {
            batch(folder, argv[2], value, size, count);
            count = 1;
        } else {
            for (long i = 0; i < count; i++) {
                if (action[0] == 's') set(folder, argv[1], argv[2], value, size);
                else get(folder, value, size);
            }
        }
        printf("%.1f\n", (nanoseconds() - start) / (double)count);
        fflush(stdout);
        free(value);
    }
    return 0;
}
