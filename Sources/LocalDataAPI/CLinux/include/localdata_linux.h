/* What Linux offers and Swift's Glibc module does not show. Header only: each image that uses it gets its own copy,
 * so that a plugin never binds to the host's. */
#ifndef LOCALDATA_LINUX_H
#define LOCALDATA_LINUX_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static inline pid_t ld_linux_gettid(void) {
    return (pid_t)syscall(SYS_gettid);
}

#endif
