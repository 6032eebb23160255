/* What Linux offers and Swift's Glibc module does not show. Header only: each image that uses it gets its own copy,
 * so that a plugin never binds to the host's. */
#ifndef LOCALDATA_LINUX_H
#define LOCALDATA_LINUX_H

#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

/* Swift builds its Glibc module without _GNU_SOURCE. Defining it here would give `fd_set` a second layout, which the
 * compiler refuses; so what is hidden behind it is declared (repeating a declaration is legal C) or called by number. */
extern long syscall(long number, ...);

static inline pid_t ld_linux_gettid(void) {
    return (pid_t)syscall(SYS_gettid);
}

/* ---------------------------------------------------------------- files ----------------------------------------- */

#include <stdint.h>
#include <sys/xattr.h>

/* Hidden behind _GNU_SOURCE in <string.h>; in glibc since 2.32. */
extern const char *strerrordesc_np(int code);
extern const char *strerrorname_np(int code);

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

/* xattr(7). */
static inline int32_t ld_linux_set_attribute(int32_t file, const char *name, const void *value, size_t size) {
    return fsetxattr(file, name, value, size, 0);
}

static inline ssize_t ld_linux_get_attribute(int32_t file, const char *name, void *value, size_t size) {
    return fgetxattr(file, name, value, size);
}

#endif
