/*
 * An LD_PRELOAD library that counts what a process sends over sockets with send and sendmsg, as GLib does over D-Bus, and
 * kills the process at one of them:
 *
 *     MESSAGES_AT=N         the one, from 1; 0 or unset: none
 *     MESSAGES_MODE=        before: it is not sent; after: it is, and nobody waits for the answer
 *     MESSAGES_COUNT=FILE   gets a byte for each
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long count;

static int is_hit(void) {
    pthread_mutex_lock(&lock);
    const long number = ++count;
    const char *path = getenv("MESSAGES_COUNT");
    const int file = path == NULL ? -1 : open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file >= 0) {
        if (write(file, ".", 1) != 1) abort();
        close(file);
    }
    pthread_mutex_unlock(&lock);
    const char *at = getenv("MESSAGES_AT");
    return at != NULL && atol(at) == number;
}

static int is_before(void) {
    const char *mode = getenv("MESSAGES_MODE");
    return mode != NULL && strcmp(mode, "before") == 0;
}

static _Noreturn void die(void) {
    for (;;) kill(getpid(), SIGKILL);
}

ssize_t sendmsg(int socket, const struct msghdr *message, int flags) {
    const int hit = is_hit();
    if (hit && is_before()) die();
    const ssize_t result = syscall(SYS_sendmsg, socket, message, flags);
    if (hit) die();
    return result;
}

ssize_t send(int socket, const void *bytes, size_t size, int flags) {
    const int hit = is_hit();
    if (hit && is_before()) die();
    const ssize_t result = syscall(SYS_sendto, socket, bytes, size, flags, NULL, 0);
    if (hit) die();
    return result;
}
