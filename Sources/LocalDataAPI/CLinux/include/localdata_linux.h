/* What Linux offers and Swift's Glibc module does not show. Header only: each image that uses it gets its own copy,
 * so that a plugin never binds to the host's. */
#ifndef LOCALDATA_LINUX_H
#define LOCALDATA_LINUX_H

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <spawn.h>
#include <stdint.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

/* Swift builds its Glibc module without _GNU_SOURCE. Defining it here would give `fd_set` a second layout, which the
 * compiler refuses; so what is hidden behind it is declared (repeating a declaration is legal C) or called by number. */
extern long syscall(long number, ...);
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);
extern const char *sigabbrev_np(int signal);
extern const char *strerrordesc_np(int code);
extern const char *strerrorname_np(int code);
extern int pthread_setname_np(pthread_t thread, const char *name);
extern int syncfs(int file);
extern int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *deadline);

/* ---------------------------------------------------------------- threads --------------------------------------- */

/* Names the calling thread, at most 15 bytes, for debuggers and /proc. */
static inline void ld_linux_name_thread(const char *name) {
    (void)pthread_setname_np(pthread_self(), name);
}

/* sem_clockwait(3) on CLOCK_MONOTONIC: 0, or -1 with errno. */
static inline int ld_linux_sem_wait_until(sem_t *semaphore, const struct timespec *deadline) {
    return sem_clockwait(semaphore, CLOCK_MONOTONIC, deadline);
}

/* ---------------------------------------------------------------- processes ------------------------------------- */

/* pipe2(2): -1 and errno on failure. */
static inline int ld_linux_pipe2(int ends[2], int flags) {
    return (int)syscall(SYS_pipe2, ends, flags);
}

/* pidfd_open(2): a descriptor, closed on exec, that is readable once the process has ended; -1 and errno on failure
 * (ENOSYS before Linux 5.3). */
static inline int ld_linux_pidfd_open(pid_t pid) {
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

/* memfd_create(2), closed on exec and not executable where the kernel knows that flag (Linux 6.3); -1 and errno on
 * failure. */
static inline int ld_linux_memfd(const char *name) {
    enum { close_on_exec = 1, no_exec_seal = 8 };
    int descriptor = (int)syscall(SYS_memfd_create, name, close_on_exec | no_exec_seal);
    if (descriptor < 0 && errno == EINVAL) {
        descriptor = (int)syscall(SYS_memfd_create, name, close_on_exec);
    }
    return descriptor;
}

/* In the child, closes every descriptor from `from` on; an error number on failure. Needs glibc 2.34. */
static inline int ld_linux_spawn_close_from(posix_spawn_file_actions_t *actions, int from) {
    return posix_spawn_file_actions_addclosefrom_np(actions, from);
}

/* PR_SET_DUMPABLE of prctl(2): no core dumps, and no other process of the same user may look into this one. */
static inline void ld_linux_forbid_dumps(void) {
    syscall(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);
}

/* Overwrites the 32 KiB of the stack below its caller: what functions that have returned left there. */
__attribute__((noinline)) static inline void ld_linux_clear_stack(void) {
    unsigned char space[32 << 10];
    memset(space, 0, sizeof space);
    /* Nobody reads it; without this the compiler would leave it out. */
    __asm__ volatile("" : : "r"(space) : "memory");
}

/* The signal's name without SIG, "ABRT", or null if it has none. Needs glibc 2.32. */
static inline const char *ld_linux_signal_name(int signal) {
    return sigabbrev_np(signal);
}

/* ---------------------------------------------------------------- files ----------------------------------------- */

/* The untranslated text and the symbol of an error number, or NULL: "No space left on device", "ENOSPC". */
static inline const char *ld_linux_error_text(int32_t code) {
    return strerrordesc_np(code);
}

static inline const char *ld_linux_error_symbol(int32_t code) {
    return strerrorname_np(code);
}

/* dup3(2): the file that `file` stands for is put behind the open descriptor `place`, at once for all threads. */
static inline int32_t ld_linux_put_in_place(int32_t file, int32_t place, int32_t flags) {
    return (int32_t)syscall(SYS_dup3, file, place, flags);
}

/* syncfs(2): what was written to the file system is on the disk; -1 and errno if anything written since `file` was opened
 * is not (since Linux 5.8). */
static inline int32_t ld_linux_syncfs(int32_t file) {
    return syncfs(file);
}

/* xattr(7). */
static inline int32_t ld_linux_set_attribute(int32_t file, const char *name, const void *value, size_t size) {
    return fsetxattr(file, name, value, size, 0);
}

static inline ssize_t ld_linux_get_attribute(int32_t file, const char *name, void *value, size_t size) {
    return fgetxattr(file, name, value, size);
}

#endif
