/* Preloaded into a program that talks to a server: writes a line to the file LD_SEND_LOG for each message that it
 * sends to a socket, and disturbs the message whose number is LD_SEND_AT. LD_SEND_MODE says how:
 *
 *   kill-before  the program is killed, and the server never gets the message
 *   kill-after   the server gets it, and the program is killed before the answer
 *   lose-before  the connection is lost, and the server never gets the message
 *   lose-after   the server gets it, and the connection is lost before the answer
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static atomic_int sent;

ssize_t send(int socket, const void *bytes, size_t count, int flags) {
    static ssize_t (*next)(int, const void *, size_t, int);
    const char *log = getenv("LD_SEND_LOG"), *at = getenv("LD_SEND_AT"), *mode = getenv("LD_SEND_MODE");
    if (!next) next = (ssize_t (*)(int, const void *, size_t, int))dlsym(RTLD_NEXT, "send");
    if (!log) return next(socket, bytes, count, flags);
    int number = atomic_fetch_add(&sent, 1) + 1, file = open(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (file >= 0) {
        if (write(file, "send\n", 5) != 5) abort();
        close(file);
    }
    if (!at || !mode || number != atoi(at)) return next(socket, bytes, count, flags);
    int isAfter = strstr(mode, "-after") != 0;
    ssize_t result = isAfter ? next(socket, bytes, count, flags) : -1;
    if (!strncmp(mode, "kill", 4)) raise(SIGKILL);
    shutdown(socket, SHUT_RDWR);
    if (!isAfter) errno = ECONNRESET;
    return result;
}
