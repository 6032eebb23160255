/* The program that selftest.py runs under the fault injector. Prints a line per call: its name and result. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Written at once, so that output before a kill is not lost. */
__attribute__((format(printf, 1, 2))) static void print(const char *format, ...) {
    char line[256];
    va_list rest;
    va_start(rest, format);
    int length = vsnprintf(line, sizeof line, format, rest);
    va_end(rest);
    if (write(STDOUT_FILENO, line, (size_t)length) != length) _exit(3);
}

static int calls_left = -1; /* before the program ends, if not negative */

static long show(const char *name, long result, bool number) {
    if (result == -1) {
        print("%s -%s\n", name, strerrorname_np(errno));
    } else if (number) {
        print("%s %ld\n", name, result);
    } else {
        print("%s ok\n", name);
    }
    errno = 0;
    if (calls_left > 0 && --calls_left == 0) _exit(0);
    return result;
}

/* Prints only whether a descriptor was opened; its number does not matter. */
static int show_opened(const char *name, int fd) {
    return (int)show(name, fd, false);
}

#define CALL(name, ...) show(#name, (long)name(__VA_ARGS__), true)
#define OPEN(name, ...) show_opened(#name, name(__VA_ARGS__))

static void check(bool held, const char *what) {
    if (held) return;
    print("driver: can't %s: %s\n", what, strerror(errno));
    _exit(2);
}

/* Each step is a counted call, whether or not the ones before succeeded. */
static void sequence(void) {
    int source = open("source", O_RDONLY);
    CALL(mkdir, "d", 0755);
    int fd = OPEN(open, "d/temporary", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    CALL(write, fd, "0123456789", 10);
    CALL(fsetxattr, fd, "user.test", "value", 5, 0);
    CALL(fsync, fd);
    int directory = open("d", O_RDONLY | O_DIRECTORY);
    CALL(renameat, directory, "temporary", directory, "file");
    CALL(fsync, directory);
    CALL(ftruncate, fd, 4);
    lseek(fd, 0, SEEK_END);
    CALL(sendfile, fd, source, NULL, 1000);
    CALL(linkat, directory, "file", AT_FDCWD, "d/second", 0);
    CALL(unlink, "d/second");
    CALL(unlinkat, directory, "file", 0);
    CALL(rmdir, "d");
}

/* What open and openat64 become in a program built with _FORTIFY_SOURCE. */
extern int __open_2(const char *path, int flags);
extern int __openat64_2(int directory, const char *path, int flags);

/* Makes every replaced call at least once, also under its name for large files. */
static void every(void) {
    struct iovec two[2] = {{"abc", 3}, {"defg", 4}};
    struct timespec times[2] = {{1, 0}, {2, 0}};
    int here = open(".", O_RDONLY | O_DIRECTORY);
    int source = open("source", O_RDONLY);

    close(OPEN(creat, "a", 0600));
    close(OPEN(creat64, "a", 0600));
    close(OPEN(open64, "b", O_WRONLY | O_CREAT, 0600));
    close(OPEN(open, "b", O_WRONLY | O_CREAT, 0600)); /* exists: not counted */
    close(OPEN(open, "b", O_WRONLY | O_TRUNC));
    close(OPEN(openat, here, "c", O_WRONLY | O_CREAT | O_TRUNC, 0600));
    close(OPEN(openat64, here, "c", O_WRONLY)); /* not counted */
    OPEN(open, "c", O_WRONLY | O_CREAT | O_EXCL | O_TRUNC, 0600); /* exists: fails, not counted */
    OPEN(open, "sub", O_WRONLY | O_TRUNC); /* a directory: fails, not counted */
    close(OPEN(__open_2, "c", O_WRONLY | O_TRUNC));
    close(OPEN(__openat64_2, here, "c", O_WRONLY | O_TRUNC));
    OPEN(open, "none", O_WRONLY | O_TRUNC); /* doesn't exist: fails, not counted */
    int unnamed = OPEN(open, ".", O_TMPFILE | O_WRONLY, 0600);
    char link_name[64];
    snprintf(link_name, sizeof link_name, "/proc/self/fd/%d", unnamed);
    CALL(linkat, AT_FDCWD, link_name, here, "named", AT_SYMLINK_FOLLOW);

    int fd = open("c", O_RDWR);
    CALL(write, fd, "0123456789", 10);
    CALL(pwrite, fd, "x", 1, 2);
    CALL(pwrite64, fd, "y", 1, 3);
    CALL(writev, fd, two, 2);
    CALL(pwritev, fd, two, 2, 0);
    CALL(pwritev64, fd, two, 2, 0);
    CALL(pwritev2, fd, two, 2, 0, 0);
    CALL(pwritev64v2, fd, two, 2, 0, 0);
    off_t start = 0;
    CALL(sendfile, fd, source, &start, 4);
    CALL(sendfile64, fd, source, NULL, 4);
    start = 0;
    CALL(copy_file_range, source, &start, fd, NULL, 4, 0);
    int ends[2];
    check(pipe(ends) == 0 && write(ends[1], "spliced", 7) == 7, "use a pipe");
    CALL(splice, ends[0], NULL, fd, NULL, 7, 0);
    CALL(ftruncate, fd, 100);
    CALL(ftruncate64, fd, 90);
    CALL(truncate, "c", 80);
    CALL(truncate64, "c", -1);
    CALL(fallocate, fd, 0, 0, 200);
    CALL(fallocate64, fd, 0, 0, 300);
    CALL(posix_fallocate, fd, 0, 400);
    CALL(posix_fallocate64, fd, 0, -1); /* its result is an error number */
    void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    check(memory != MAP_FAILED, "map a file");
    CALL(msync, memory, 4096, MS_SYNC);
    CALL(fsync, fd);
    CALL(fdatasync, fd);
    CALL(sync_file_range, fd, 0, 0, SYNC_FILE_RANGE_WRITE);
    CALL(syncfs, here);
    sync();

    CALL(rename, "a", "./sub/../r1");
    CALL(renameat, here, "r1", here, "r2");
    CALL(renameat2, here, "r2", here, "c", RENAME_NOREPLACE);
    CALL(link, "c", "l1");
    CALL(linkat, here, "c", here, "l2", 0);
    CALL(symlink, "nowhere", "s1");
    CALL(symlinkat, "nowhere", here, "s2");
    CALL(mkdir, "m1", 0700);
    CALL(mkdirat, here, "m2", 0700);
    CALL(mknod, "n1", S_IFIFO | 0600, 0);
    CALL(mknodat, here, "n2", S_IFIFO | 0600, 0);
    CALL(unlink, "l1");
    CALL(unlinkat, here, "l2", 0);
    CALL(remove, "s1");
    CALL(remove, "m1");
    CALL(rmdir, "m2");
    CALL(rmdir, "m2");

    CALL(setxattr, "c", "user.a", "1", 1, 0);
    CALL(lsetxattr, "c", "user.b", "1", 1, 0);
    CALL(fsetxattr, fd, "user.c", "1", 1, 0);
    CALL(removexattr, "c", "user.a");
    CALL(lremovexattr, "c", "user.b");
    CALL(fremovexattr, fd, "user.c");
    CALL(chmod, "c", 0640);
    CALL(fchmod, fd, 0600);
    CALL(fchmodat, here, "c", 0644, 0);
    CALL(fchmodat, here, "s2", 0644, AT_SYMLINK_NOFOLLOW);
    CALL(chown, "c", getuid(), getgid());
    CALL(fchown, fd, getuid(), getgid());
    CALL(lchown, "s2", getuid(), getgid());
    CALL(fchownat, fd, "", getuid(), getgid(), AT_EMPTY_PATH);
    CALL(utimensat, here, "c", times, 0);
    CALL(futimens, fd, times);

    FILE *stream = fopen("f1", "w");
    check(stream != NULL, "open a stream");
    stream = freopen("f2", "a", stream);
    check(stream != NULL, "open a stream again");
    stream = freopen64(NULL, "w", stream);
    check(stream != NULL, "truncate a stream");
    fclose(stream);
    stream = fopen64("f1", "w+");
    check(stream != NULL, "open a stream for large files");
    fclose(stream);
    stream = fopen("f1", "r+"); /* not counted */
    check(stream != NULL, "open a stream to read");
    fclose(stream);
    char t1[] = "t1-XXXXXX", t2[] = "t2-XXXXXX.x", t3[] = "t3-XXXXXX", t4[] = "t4-XXXXXX.x", t5[] = "t5-XXXXXX";
    close(OPEN(mkstemp, t1));
    close(OPEN(mkstemps, t2, 2));
    close(OPEN(mkostemp64, t3, O_CLOEXEC));
    close(OPEN(mkostemps, t4, 2, O_CLOEXEC));
    check(mkdtemp(t5) == t5, "make a temporary directory");

    errno = 0;
    show("SYS_renameat2", syscall(SYS_renameat2, here, "r2", here, "r3", 0), true);
    start = 0;
    show("SYS_copy_file_range", syscall(SYS_copy_file_range, source, &start, fd, NULL, 3, 0), true);
    show("SYS_getppid", syscall(SYS_getppid) == getppid() ? 0 : -1, true); /* not counted */
    show("SYS_close", syscall(SYS_close, 9999), true); /* not counted */

    CALL(unlink, "tab\tline\nback\\slash");
    check(unlink("r3") == 0, "unlink an open file's name");
    int gone = open("gone", O_RDWR | O_CREAT, 0600);
    check(gone >= 0 && unlink("gone") == 0, "unlink an open file");
    CALL(write, gone, "1", 1);
    int odd = open("odd (deleted)", O_RDWR | O_CREAT, 0600);
    CALL(write, odd, "1", 1);
}

/* Makes one call that has a half, on "out", which has 100 bytes. */
static void tear(const char *name) {
    int fd = open("out", O_RDWR), source = open("source", O_RDONLY);
    struct iovec three[3] = {{"abc", 3}, {"", 0}, {"defghij", 7}};
    off_t start = 4;
    errno = 0;
    if (strcmp(name, "write") == 0) CALL(write, fd, "abcdefghij", 10);
    if (strcmp(name, "write-odd") == 0) CALL(write, fd, "abc", 3);
    if (strcmp(name, "write-one") == 0) CALL(write, fd, "a", 1);
    if (strcmp(name, "write-none") == 0) CALL(write, fd, "", 0);
    if (strcmp(name, "pwrite") == 0) CALL(pwrite, fd, "abcdefghij", 10, 20);
    if (strcmp(name, "writev") == 0) CALL(writev, fd, three, 3);
    if (strcmp(name, "pwritev") == 0) CALL(pwritev, fd, three, 3, 20);
    if (strcmp(name, "pwritev2") == 0) CALL(pwritev2, fd, three, 3, 20, 0);
    if (strcmp(name, "sendfile") == 0) CALL(sendfile, fd, source, NULL, 10);
    if (strcmp(name, "sendfile-more") == 0) CALL(sendfile, fd, source, &start, 1 << 20);
    if (strcmp(name, "copy_file_range") == 0) CALL(copy_file_range, source, NULL, fd, NULL, 1 << 20, 0);
    if (strcmp(name, "splice") == 0) {
        int ends[2];
        check(pipe(ends) == 0 && write(ends[1], "abcdefghij", 10) == 10, "use a pipe");
        CALL(splice, ends[0], NULL, fd, NULL, 10, 0);
    }
    if (strcmp(name, "ftruncate-less") == 0) CALL(ftruncate, fd, 0);
    if (strcmp(name, "ftruncate-more") == 0) CALL(ftruncate, fd, 200);
    if (strcmp(name, "ftruncate-same") == 0) CALL(ftruncate, fd, 100);
    if (strcmp(name, "truncate") == 0) CALL(truncate, "out", 40);
    if (strcmp(name, "fallocate") == 0) CALL(fallocate, fd, 0, 0, 400);
    if (strcmp(name, "posix_fallocate") == 0) CALL(posix_fallocate, fd, 0, 400);
}

/* A call that opens a file must leave no descriptor behind when it reports an error. */
static void opening(const char *name) {
    int first = dup(STDIN_FILENO);
    close(first);
    if (strcmp(name, "open") == 0) OPEN(open, "new", O_WRONLY | O_CREAT, 0600);
    if (strcmp(name, "mkstemp") == 0) {
        char path[] = "new-XXXXXX";
        OPEN(mkstemp, path);
    }
    if (strcmp(name, "fopen") == 0) show("fopen", fopen("new", "w") == NULL ? -1 : 0, false);
    if (strcmp(name, "freopen") == 0) {
        FILE *stream = fopen("source", "r");
        check(stream != NULL, "open a stream");
        errno = 0;
        show("freopen", freopen("new", "w", stream) == NULL ? -1 : 0, false);
    }
    int second = dup(STDIN_FILENO);
    print("descriptors %s\n", first == second ? "closed" : "left open");
}

static int thread_writes;

static void *write_often(void *argument) {
    int fd = open(argument, O_WRONLY | O_CREAT, 0600);
    for (int i = 0; i < thread_writes; ++i) {
        if (pwrite(fd, "x", 1, i) != 1) _exit(4);
    }
    return NULL;
}

static void threads(int count, int writes) {
    pthread_t thread[16];
    char names[16][8];
    thread_writes = writes;
    for (int i = 0; i < count && i < 16; ++i) {
        snprintf(names[i], sizeof names[i], "t%d", i % 100);
        check(pthread_create(&thread[i], NULL, write_often, names[i]) == 0, "start a thread");
    }
    for (int i = 0; i < count && i < 16; ++i) pthread_join(thread[i], NULL);
}

/* Whether a thread of this process is in a system call now. */
static bool is_in_call(long thread, long number) {
    char path[64], text[32] = "";
    snprintf(path, sizeof path, "/proc/self/task/%ld/syscall", thread);
    int fd = thread == 0 ? -1 : open(path, O_RDONLY);
    bool waits = fd >= 0 && read(fd, text, sizeof text - 1) > 0 && text[0] >= '0' && text[0] <= '9';
    if (fd >= 0) close(fd);
    return waits && atol(text) == number;
}

static _Atomic long writer, creator;
static atomic_bool created;

static void *write_to_full_pipe(void *argument) {
    writer = syscall(SYS_gettid);
    return write(*(int *)argument, "x", 1) == 1 ? NULL : argument;
}

static void *create_file(void *argument) {
    creator = syscall(SYS_gettid);
    close(open("forbidden", O_WRONLY | O_CREAT, 0600));
    created = true;
    return argument;
}

static void fill(int fd) {
    char bytes[4096] = {0};
    check(fcntl(fd, F_SETFL, O_NONBLOCK) == 0, "make a pipe not wait");
    while (syscall(SYS_writev, fd, &(struct iovec){bytes, sizeof bytes}, 1) > 0) continue;
    check(fcntl(fd, F_SETFL, 0) == 0, "make a pipe wait");
}

/* Cancels a thread that waits in write. */
static void cancel(void) {
    int ends[2];
    pthread_t thread;
    void *result;
    check(pipe(ends) == 0, "make a pipe");
    fill(ends[1]);
    check(pthread_create(&thread, NULL, write_to_full_pipe, &ends[1]) == 0, "start a thread");
    while (!is_in_call(writer, SYS_write)) sched_yield();
    pthread_cancel(thread);
    pthread_join(thread, &result);
    print("%s\n", result == PTHREAD_CANCELED ? "cancelled" : "returned");
}

/* While a thread is in the write that is to kill the process, another thread creates a file. */
static void hold(void) {
    char bytes[4096];
    pthread_t thread;
    int fd = open("fifo", O_RDWR);
    check(fd >= 0, "open a named pipe");
    fill(fd);
    check(pthread_create(&thread, NULL, write_to_full_pipe, &fd) == 0, "start a thread");
    while (!is_in_call(writer, SYS_write)) sched_yield();
    check(pthread_create(&thread, NULL, create_file, NULL) == 0, "start a thread");
    while (!created && !is_in_call(creator, SYS_ppoll)) sched_yield();
    for (;;) check(read(fd, bytes, sizeof bytes) > 0, "empty a named pipe");
}

/* Makes five writes, each in a separate child; the last child runs this program again. */
static void family(const char *self) {
    for (int i = 0; i < 5; ++i) {
        pid_t child = fork();
        if (child == 0) {
            if (i == 4) execl(self, self, ".", "tear", "write", NULL);
            _exit(write(open("out", O_WRONLY), "x", 1) == 1 ? 0 : 1);
        }
        int status = 0;
        waitpid(child, &status, 0);
        print("child %d %s\n", i, WIFSIGNALED(status) ? "killed" : WEXITSTATUS(status) == 0 ? "ok" : "failed");
    }
}

/* Starts three children with their own settings: in each child, the write with the child's number fails. */
static void server(const char *root) {
    union {
        void *address;
        void (*call)(void);
    } configure_again = {dlsym(RTLD_DEFAULT, "ld_fault_configure_again")};
    check(configure_again.address != NULL, "find ld_fault_configure_again");
    for (int i = 1; i <= 3; ++i) {
        pid_t child = fork();
        if (child == 0) {
            const char number[] = {(char)('0' + i), '\0'};
            setenv("LD_FAULT_ROOT", root, 1);
            setenv("LD_FAULT_AT", number, 1);
            setenv("LD_FAULT_MODE", "eio", 1);
            configure_again.call();
            int fd = open("out", O_WRONLY);
            for (int n = 0; n < 3; ++n) CALL(write, fd, "x", 1);
            _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
    }
}

/* Runs before any constructor. */
static void early(int count, char **arguments, char **environment) {
    (void)count;
    (void)arguments;
    for (; *environment != NULL; ++environment) {
        if (strncmp(*environment, "EARLY=", 6) == 0) close(open(*environment + 6, O_WRONLY | O_CREAT, 0600));
    }
}
__attribute__((section(".preinit_array"), used)) static void (*early_entry)(int, char **, char **) = early;

int main(int count, char **arguments) {
    check(count >= 3 && chdir(arguments[1]) == 0, "change the directory");
    const char *command = arguments[2], *what = count > 3 ? arguments[3] : "";
    if (strcmp(command, "sequence") == 0) {
        if (count > 3) calls_left = atoi(what);
        sequence();
    }
    if (strcmp(command, "every") == 0) every();
    if (strcmp(command, "tear") == 0) tear(what);
    if (strcmp(command, "open") == 0) opening(what);
    if (strcmp(command, "move") == 0 && count > 4) CALL(rename, what, arguments[4]);
    if (strcmp(command, "threads") == 0 && count > 4) threads(atoi(what), atoi(arguments[4]));
    if (strcmp(command, "cancel") == 0) cancel();
    if (strcmp(command, "hold") == 0) hold();
    if (strcmp(command, "family") == 0) family(arguments[0]);
    if (strcmp(command, "server") == 0) server(what);
    return 0;
}
