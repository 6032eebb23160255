/* Declarations that the parts of the fault injector share. faultshim.c says what it does and how to build it. */
#ifndef FAULTSHIM_H
#define FAULTSHIM_H

#undef _FORTIFY_SOURCE /* its inline wrappers would prevent the definitions of open and its kin */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

/* Only the calls themselves may be visible: a preloaded symbol replaces that of every library. */
#pragma GCC visibility push(hidden)

/* The position of a call's target among its arguments, counted from `at`. */
enum fault_shape {
    FAULT_FD,      /* descriptor */
    FAULT_PATH,    /* path */
    FAULT_AT,      /* directory descriptor, path */
    FAULT_TWO,     /* directory descriptor, path, directory descriptor, path */
    FAULT_ADDRESS, /* address in a mapped file */
    FAULT_ALL,     /* everything (sync) */
};

/* How a call can be half done. */
enum fault_tear {
    TEAR_NOTHING, /* can't be half done */
    TEAR_BYTES,   /* argument `amount` is a number of bytes, of which the call may do fewer */
    TEAR_COPY,    /* the same, read from descriptor `source` at the offset behind `offset` */
    TEAR_VECTOR,  /* argument `amount` is an iovec, the next one its length */
    TEAR_RANGE,   /* argument `amount` is the length of a range */
    TEAR_SIZE,    /* argument `amount` is the new size of the target: half way from the present one */
};

struct fault_call {
    const char *name;
    long number; /* of the system call that does it; arguments are in the kernel's order */
    enum fault_shape shape;
    enum fault_tear tear;
    unsigned char at, amount, source, offset;
    bool cancellable;                             /* a cancellation point, pthreads(7) */
    bool pointer;                                 /* the result is a pointer */
    bool (*counts)(const long a[6]);              /* unless this call changes nothing */
    long (*run)(const long a[6]);                 /* instead of the system call; 0 or more, or -errno */
    void (*undo)(const long a[6], long result);   /* before an error that is not `result` is reported */
};

struct fault_target {
    char first[PATH_MAX];
    char second[PATH_MAX]; /* empty if there is only one */
};

enum fault_mode {
    MODE_NONE,
    MODE_KILL_BEFORE,
    MODE_KILL_TORN,
    MODE_KILL_AFTER,
    MODE_EIO,
    MODE_ENOSPC,
    MODE_EIO_AFTER,
    MODE_SHORT,
    MODE_STOP,
};

struct fault_config {
    bool active; /* false: no variable is set, all calls pass */
    uint64_t at; /* 0: never */
    enum fault_mode mode;
    bool every;
    _Atomic uint64_t *counter;
    char log[PATH_MAX]; /* empty: none */
};

/* The settings from the environment, read once, at the first call or when the library is loaded. */
const struct fault_config *fault_config(void);

/* Makes the call, counts it if it is watched, and fails or kills if it is the one to hit. Returns the kernel's
 * result: negative errno, or 0 and more. Needs 50 KiB of stack, no heap. */
long fault_perform(const struct fault_call *call, const long a[6]);

/* Whether the call's target, which is filled in, lies under a root. */
bool fault_watched(const struct fault_call *call, const long a[6], struct fault_target *target);

/* Adds a root to watch: `path` normalised and, if it exists, without symbolic links. False if there are too many. */
bool fault_add_root(const char *path);

/* Forgets all roots. */
void fault_forget_roots(void);

/* The absolute, lexically normalised path of `path` seen from `dirfd`. An empty path is the descriptor's own. False
 * if there is no such path, or it does not fit. */
bool fault_resolve(int dirfd, const char *path, char out[PATH_MAX]);

#pragma GCC visibility pop

/* A raw system call that leaves errno alone. Not libc's `syscall`, which is one of the replaced calls. */
static inline long fault_raw(long number, long a, long b, long c, long d, long e, long f) {
#if defined(__x86_64__)
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
#elif defined(__aarch64__)
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;
    __asm__ volatile("svc 0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    return x0;
#else
#error "the fault injector knows x86_64 and aarch64"
#endif
}

#define L(value) ((long)(value))
#define FAULT_RAW_6(number, a, b, c, d, e, f, ...) fault_raw(number, L(a), L(b), L(c), L(d), L(e), L(f))
/* `RAW(number, arguments...)`: at least one argument, up to six. */
#define RAW(number, ...) FAULT_RAW_6(number, __VA_ARGS__, 0, 0, 0, 0, 0, 0)

#endif
