/* What Linux offers and Swift's Glibc module does not show. Header only: each image that uses it gets its own copy,
 * so that a plugin never binds to the host's. _GNU_SOURCE must not be defined here, or structs would differ from those
 * of the Glibc module; what it would have declared is declared by hand. */
#ifndef LOCALDATA_LINUX_H
#define LOCALDATA_LINUX_H

#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

extern int pthread_setname_np(pthread_t thread, const char *name);
extern int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *deadline);
extern long syscall(long number, ...);

static inline pid_t ld_linux_gettid(void) {
    return (pid_t)syscall(SYS_gettid);
}

/* Names the calling thread, at most 15 bytes, for debuggers and /proc. */
static inline void ld_linux_name_thread(const char *name) {
    (void)pthread_setname_np(pthread_self(), name);
}

/* sem_clockwait(3) on CLOCK_MONOTONIC: 0, or -1 with errno. */
static inline int ld_linux_sem_wait_until(sem_t *semaphore, const struct timespec *deadline) {
    return sem_clockwait(semaphore, CLOCK_MONOTONIC, deadline);
}

#endif
