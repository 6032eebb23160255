/*
 * What the kept plugins have in common. They are built without the headers or the libraries of any system: the little that
 * they need of a C library is declared here, and found in the process that loads them.
 */
#ifndef KEPT_H
#define KEPT_H

#include <localdata/plugin.h>

void *malloc(size_t count);
void *calloc(size_t count, size_t size);
void *realloc(void *memory, size_t count);
void free(void *memory);
void *memcpy(void *to, const void *from, size_t count);
void *memmove(void *to, const void *from, size_t count);
void *memset(void *to, int byte, size_t count);
int memcmp(const void *left, const void *right, size_t count);
int sched_yield(void);
int clock_gettime(int clock, long time[2]);

#define TEXT(literal) {literal, sizeof(literal) - 1}
#define BYTES(literal) ((ld_bytes)TEXT(literal))

static inline int equals(ld_bytes left, ld_bytes right) {
    return left.count == right.count && (left.count == 0 || memcmp(left.data, right.data, left.count) == 0);
}

static inline ld_status fail(const ld_error_sink *error, ld_error_code code, ld_bytes message) {
    if (error != NULL) error->report(error->context, code, message, (ld_bytes){NULL, 0});
    return LD_FAILED;
}

/* Nanoseconds of a clock: 0 of the calendar, 1 that only goes forward. */
static inline int64_t now(int clock) {
    long time[2] = {0, 0};
    clock_gettime(clock, time);
    return (int64_t)time[0] * 1000000000 + time[1];
}

/* A lock that is held for a short time only. */
typedef char lock;
static inline void take(lock *lock) {
    while (__atomic_test_and_set(lock, __ATOMIC_ACQUIRE)) sched_yield();
}
static inline void give(lock *lock) { __atomic_clear(lock, __ATOMIC_RELEASE); }

/* Clears what may have been a secret; the compiler must not leave it out. */
static inline void clear(void *memory, size_t count) {
    memset(memory, 0, count);
    __asm__ __volatile__("" : : "r"(memory) : "memory");
}

#endif
