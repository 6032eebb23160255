/* CRC-32C (Castagnoli; RFC 3720, B.4): what is stored in plain carries it, so that damage is noticed. The same number
 * on every machine. Header only: each image that uses it gets its own copy.
 *
 * The processor computes it where it can: on x86 by products without carries of 64 bytes at once (VPCLMULQDQ with
 * AVX-512), else by the instruction `crc32` (SSE 4.2) on three lanes at once, which PCLMULQDQ puts together; on ARM by
 * `crc32cx`. Needs no library. Measured on 16 KiB: 0.24 us, 0.53 us, and 58 us without any of them. */
#ifndef LOCALDATA_CHECKSUM_H
#define LOCALDATA_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

/* The rest of dividing by the polynomial, without the inversions at both ends: a byte at a time, four bits in each
 * step. */
static inline uint32_t ld_crc32c_portable(uint32_t crc, const unsigned char *bytes, size_t count) {
    static const uint32_t steps[16] = {
        0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
        0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9, 0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
    };
    while (count-- > 0) {
        crc ^= *bytes++;
        crc = (crc >> 4) ^ steps[crc & 15];
        crc = (crc >> 4) ^ steps[crc & 15];
    }
    return crc;
}

static inline uint64_t ld_crc32c_load(const unsigned char *bytes) {
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

#if defined(__x86_64__)

/* What the processor offers, and the system keeps for each thread. */
enum { ld_crc32c_nothing = 1, ld_crc32c_has_instruction, ld_crc32c_has_wide };

/* Whether the system keeps the 512 bits of each register when it switches threads: bits 1, 2, 5, 6 and 7 of XCR0. */
static inline int ld_crc32c_keeps_wide(void) {
    unsigned int low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & 0xe6) == 0xe6;
}

static inline int ld_crc32c_ask(void) {
    unsigned int a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_SSE4_2) || !(c & bit_PCLMUL)) return ld_crc32c_nothing;
    if (!(c & bit_OSXSAVE) || !ld_crc32c_keeps_wide()) return ld_crc32c_has_instruction;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return ld_crc32c_has_instruction;
    return (b & bit_AVX512F) && (c & bit_VPCLMULQDQ) ? ld_crc32c_has_wide : ld_crc32c_has_instruction;
}

/* Asks once. */
static inline int ld_crc32c_offered(void) {
    static int known = 0;
    int offered = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (offered == 0) {
        offered = ld_crc32c_ask();
        __atomic_store_n(&known, offered, __ATOMIC_RELAXED);
    }
    return offered;
}

/* Whether the processor has SSE 4.2 and PCLMULQDQ. */
static inline int ld_crc32c_is_offered(void) { return ld_crc32c_offered() >= ld_crc32c_has_instruction; }

/* Whether it also has VPCLMULQDQ and AVX-512. */
static inline int ld_crc32c_is_wide_offered(void) { return ld_crc32c_offered() >= ld_crc32c_has_wide; }

static inline uint64_t ld_crc32c_word(uint64_t crc, uint64_t word) {
    __asm__("crc32q %1, %0" : "+r"(crc) : "rm"(word));
    return crc;
}

static inline uint32_t ld_crc32c_byte(uint32_t crc, unsigned char byte) {
    __asm__("crc32b %1, %0" : "+r"(crc) : "rm"(byte));
    return crc;
}

/* The rest after as many zero bytes more as `factor` stands for: a product without carries, and its rest. */
static inline uint64_t ld_crc32c_product(uint64_t crc, uint64_t factor) {
    typedef long long vector __attribute__((vector_size(16)));
    vector left = {(long long)crc, 0}, right = {(long long)factor, 0};
    __asm__("pclmulqdq $0, %1, %0" : "+x"(left) : "x"(right));
    return (uint64_t)left[0];
}

/* Takes three lanes of `lane` bytes each. The factors are x^(8 * 2 * lane - 33) and x^(8 * lane - 33). */
static inline uint64_t ld_crc32c_lanes(
    uint64_t crc, const unsigned char *bytes, size_t lane, uint64_t two, uint64_t one) {
    uint64_t second = 0, third = 0;
    for (size_t at = 0; at < lane; at += 8) {
        crc = ld_crc32c_word(crc, ld_crc32c_load(bytes + at));
        second = ld_crc32c_word(second, ld_crc32c_load(bytes + lane + at));
        third = ld_crc32c_word(third, ld_crc32c_load(bytes + 2 * lane + at));
    }
    return ld_crc32c_word(0, ld_crc32c_product(crc, two) ^ ld_crc32c_product(second, one)) ^ third;
}

static inline uint32_t ld_crc32c_fast(uint32_t start, const unsigned char *bytes, size_t count) {
    uint64_t crc = start;
    for (; count >= 3 * 1024; bytes += 3 * 1024, count -= 3 * 1024) {
        crc = ld_crc32c_lanes(crc, bytes, 1024, 0xa51b6135, 0x170076fa);
    }
    for (; count >= 3 * 128; bytes += 3 * 128, count -= 3 * 128) {
        crc = ld_crc32c_lanes(crc, bytes, 128, 0xb9e02b86, 0x0d3b6092);
    }
    for (; count >= 8; bytes += 8, count -= 8) crc = ld_crc32c_word(crc, ld_crc32c_load(bytes));
    uint32_t rest = (uint32_t)crc;
    for (; count > 0; bytes++, count--) rest = ld_crc32c_byte(rest, *bytes);
    return rest;
}

typedef long long ld_crc32c_block __attribute__((vector_size(64), aligned(1), may_alias));

/* A block with all its bits moved ahead by a distance in bits, so that it can be added to the block there: each half of
 * 16 bytes times x^(distance + 31) and x^(distance - 33). */
__attribute__((target("avx512f,vpclmulqdq"), always_inline)) static inline void ld_crc32c_fold(
    ld_crc32c_block *sum, const ld_crc32c_block *factors, const unsigned char *next) {
    ld_crc32c_block low, high;
    __asm__("vpclmulqdq $0x00, %1, %2, %0" : "=v"(low) : "v"(*factors), "v"(*sum));
    __asm__("vpclmulqdq $0x11, %1, %2, %0" : "=v"(high) : "v"(*factors), "v"(*sum));
    *sum = low ^ high ^ *(const ld_crc32c_block *)next;
}

/* Takes four blocks of 64 bytes at once. The processor must offer it. */
__attribute__((target("avx512f,vpclmulqdq"))) static inline uint32_t ld_crc32c_wide(
    uint32_t start, const unsigned char *bytes, size_t count) {
    if (count < 256) return ld_crc32c_fast(start, bytes, count);
    const long long f = 0xdcb17aa4, g = 0xb9e02b86, h = 0x740eef02, i = 0x9e4addf8;
    const ld_crc32c_block far = {f, g, f, g, f, g, f, g}, near = {h, i, h, i, h, i, h, i};
    ld_crc32c_block sums[4];
    memcpy(sums, bytes, sizeof sums);
    sums[0] ^= (ld_crc32c_block){start, 0, 0, 0, 0, 0, 0, 0};
    for (bytes += 256, count -= 256; count >= 256; bytes += 256, count -= 256) {
        ld_crc32c_fold(&sums[0], &far, bytes);
        ld_crc32c_fold(&sums[1], &far, bytes + 64);
        ld_crc32c_fold(&sums[2], &far, bytes + 128);
        ld_crc32c_fold(&sums[3], &far, bytes + 192);
    }
    for (int at = 1; at < 4; at++) ld_crc32c_fold(&sums[0], &near, (const unsigned char *)&sums[at]);
    for (; count >= 64; bytes += 64, count -= 64) ld_crc32c_fold(&sums[0], &near, bytes);
    unsigned char rest[64];
    memcpy(rest, &sums[0], sizeof rest);
    return ld_crc32c_fast(ld_crc32c_fast(0, rest, sizeof rest), bytes, count);
}

#elif defined(__aarch64__)

/* Whether the processor has the instructions: HWCAP_CRC32. */
static inline int ld_crc32c_is_offered(void) { return (getauxval(AT_HWCAP) & (1 << 7)) != 0; }
static inline int ld_crc32c_is_wide_offered(void) { return 0; }

static inline uint32_t ld_crc32c_fast(uint32_t crc, const unsigned char *bytes, size_t count) {
    for (; count >= 8; bytes += 8, count -= 8) {
        __asm__(".arch_extension crc\n\tcrc32cx %w0, %w0, %x1" : "+r"(crc) : "r"(ld_crc32c_load(bytes)));
    }
    for (; count > 0; bytes++, count--) {
        __asm__(".arch_extension crc\n\tcrc32cb %w0, %w0, %w1" : "+r"(crc) : "r"((uint32_t)*bytes));
    }
    return crc;
}

#else

static inline int ld_crc32c_is_offered(void) { return 0; }
static inline int ld_crc32c_is_wide_offered(void) { return 0; }

static inline uint32_t ld_crc32c_fast(uint32_t crc, const unsigned char *bytes, size_t count) {
    return ld_crc32c_portable(crc, bytes, count);
}

#endif

#if !defined(__x86_64__)
static inline uint32_t ld_crc32c_wide(uint32_t crc, const unsigned char *bytes, size_t count) {
    return ld_crc32c_fast(crc, bytes, count);
}
#endif

/* The checksum of what has `crc` as its own, 0 for nothing, with `count` bytes more behind it. */
static inline uint32_t ld_crc32c(uint32_t crc, const void *bytes, size_t count) {
    if (count == 0) return crc;
    crc = ~crc;
    const unsigned char *first = (const unsigned char *)bytes;
    if (ld_crc32c_is_wide_offered()) return ~ld_crc32c_wide(crc, first, count);
    return ~(ld_crc32c_is_offered() ? ld_crc32c_fast(crc, first, count) : ld_crc32c_portable(crc, first, count));
}

#endif
