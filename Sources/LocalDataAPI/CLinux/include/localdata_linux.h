/* What Linux offers and Swift's Glibc module does not show. Header only: each image that uses it gets its own copy,
 * so that a plugin never binds to the host's. */
#ifndef LOCALDATA_LINUX_H
#define LOCALDATA_LINUX_H

#include <errno.h>
#include <spawn.h>
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

static inline pid_t ld_linux_gettid(void) {
    return (pid_t)syscall(SYS_gettid);
}

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

/* The signal's name without SIG, "ABRT", or null if it has none. Needs glibc 2.32. */
static inline const char *ld_linux_signal_name(int signal) {
    return sigabbrev_np(signal);
}

#endif
