/*
 * A crypto provider with every table of ABI 1.1: ChaCha20-Poly1305, HKDF and PBKDF2 with SHA-256,
 * X25519 and Ed25519. It computes by itself, so that it needs no library: the arithmetic of curve and group order follows
 * TweetNaCl (public domain). It is for tests, and not hardened as a library is.
 */
#include "kept.h"

long getrandom(void *bytes, size_t count, unsigned flags);

typedef unsigned char byte;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t i64;

static ld_status unsupported(const ld_error_sink *error, ld_bytes message) { return fail(error, LD_ERROR_UNSUPPORTED, message); }

/* Whether bytes are equal, in a time that does not depend on them. */
static int same(const byte *left, const byte *right, size_t count) {
    byte difference = 0;
    for (size_t i = 0; i < count; i++) difference |= left[i] ^ right[i];
    return difference == 0;
}

static u32 load(const byte *at) { return at[0] | (u32)at[1] << 8 | (u32)at[2] << 16 | (u32)at[3] << 24; }

static void store(byte *at, u32 word) {
    for (int i = 0; i < 4; i++) at[i] = (byte)(word >> 8 * i);
}

/* ------------------------------------------------------------------ ChaCha20-Poly1305 (RFC 8439) ---------------- */

typedef struct stream {
    u32 state[16], r[5], h[5], pad[4];
    byte key_stream[64], block[16];
    size_t used, filled;
    u64 data, text;
    int seals;
} stream;

#define ROTATE(word, by) ((word) << (by) | (word) >> (32 - (by)))
#define QUARTER(a, b, c, d)                      \
    x[a] += x[b], x[d] = ROTATE(x[d] ^ x[a], 16); \
    x[c] += x[d], x[b] = ROTATE(x[b] ^ x[c], 12); \
    x[a] += x[b], x[d] = ROTATE(x[d] ^ x[a], 8);  \
    x[c] += x[d], x[b] = ROTATE(x[b] ^ x[c], 7)

static void chacha(stream *s) {
    u32 x[16];
    memcpy(x, s->state, sizeof x);
    for (int i = 0; i < 10; i++) {
        QUARTER(0, 4, 8, 12);
        QUARTER(1, 5, 9, 13);
        QUARTER(2, 6, 10, 14);
        QUARTER(3, 7, 11, 15);
        QUARTER(0, 5, 10, 15);
        QUARTER(1, 6, 11, 12);
        QUARTER(2, 7, 8, 13);
        QUARTER(3, 4, 9, 14);
    }
    for (int i = 0; i < 16; i++) store(s->key_stream + 4 * i, x[i] + s->state[i]);
    s->state[12]++;
    s->used = 0;
    clear(x, sizeof x);
}

/* Adds a block of 16 bytes to the code. */
static void add_block(stream *s, const byte *m) {
    u32 *h = s->h;
    const u32 *r = s->r;
    h[0] += load(m) & 0x3ffffff;
    h[1] += (load(m + 3) >> 2) & 0x3ffffff;
    h[2] += (load(m + 6) >> 4) & 0x3ffffff;
    h[3] += (load(m + 9) >> 6) & 0x3ffffff;
    h[4] += (load(m + 12) >> 8) | 1u << 24;
    u64 d[5];
    for (int i = 0; i < 5; i++) {
        d[i] = 0;
        for (int j = 0; j < 5; j++) d[i] += (u64)h[j] * (j <= i ? r[i - j] : 5 * r[5 + i - j]);
    }
    u64 carry = 0;
    for (int i = 0; i < 5; i++) {
        d[i] += carry;
        h[i] = (u32)d[i] & 0x3ffffff;
        carry = d[i] >> 26;
    }
    h[0] += (u32)carry * 5;
    h[1] += h[0] >> 26;
    h[0] &= 0x3ffffff;
}

static void authenticate(stream *s, const byte *bytes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        s->block[s->filled++] = bytes[i];
        if (s->filled == 16) add_block(s, s->block), s->filled = 0;
    }
}

static void pad(stream *s) {
    static const byte zeros[16];
    if (s->filled > 0) authenticate(s, zeros, 16 - s->filled);
}

static void start(stream *s, ld_bytes key, ld_bytes nonce, ld_bytes data, int seals) {
    static const u32 constants[4] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
    memset(s, 0, sizeof *s);
    memcpy(s->state, constants, sizeof constants);
    for (int i = 0; i < 8; i++) s->state[4 + i] = load((const byte *)key.data + 4 * i);
    for (int i = 0; i < 3; i++) s->state[13 + i] = load((const byte *)nonce.data + 4 * i);
    chacha(s);
    const byte *k = s->key_stream;
    s->r[0] = load(k) & 0x3ffffff;
    s->r[1] = (load(k + 3) >> 2) & 0x3ffff03;
    s->r[2] = (load(k + 6) >> 4) & 0x3ffc0ff;
    s->r[3] = (load(k + 9) >> 6) & 0x3f03fff;
    s->r[4] = (load(k + 12) >> 8) & 0x00fffff;
    for (int i = 0; i < 4; i++) s->pad[i] = load(k + 16 + 4 * i);
    s->used = 64;
    s->seals = seals;
    s->data = data.count;
    authenticate(s, data.data, data.count);
    pad(s);
}

static void transform(stream *s, const byte *input, byte *output, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (s->used == 64) chacha(s);
        output[i] = input[i] ^ s->key_stream[s->used++];
    }
}

static void update(stream *s, ld_bytes input, byte *output) {
    if (!s->seals) authenticate(s, input.data, input.count);
    transform(s, input.data, output, input.count);
    if (s->seals) authenticate(s, output, input.count);
    s->text += input.count;
}

static void finish(stream *s, byte *tag) {
    byte lengths[16];
    pad(s);
    for (int i = 0; i < 8; i++) lengths[i] = (byte)(s->data >> 8 * i), lengths[8 + i] = (byte)(s->text >> 8 * i);
    authenticate(s, lengths, 16);
    u32 *h = s->h, g[5], carry = 0;
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 5; i++) {
            h[i] += carry;
            carry = h[i] >> 26;
            h[i] &= 0x3ffffff;
        }
        carry *= 5;
    }
    h[0] += carry;
    carry = 5;
    for (int i = 0; i < 5; i++) {
        g[i] = h[i] + carry;
        carry = g[i] >> 26;
        g[i] &= 0x3ffffff;
    }
    u32 mask = 0 - carry; /* all ones if h is at least the prime */
    for (int i = 0; i < 5; i++) h[i] = (h[i] & ~mask) | (g[i] & mask);
    u32 words[4] = {h[0] | h[1] << 26, h[1] >> 6 | h[2] << 20, h[2] >> 12 | h[3] << 14, h[3] >> 18 | h[4] << 8};
    u64 sum = 0;
    for (int i = 0; i < 4; i++) {
        sum = (sum >> 32) + words[i] + s->pad[i];
        store(tag + 4 * i, (u32)sum);
    }
    clear(s, sizeof *s);
}

static ld_status check_cipher(ld_algorithm_id algorithm, ld_bytes key, ld_bytes nonce, const ld_error_sink *error) {
    if (algorithm != LD_CHACHA20_POLY1305) return unsupported(error, BYTES("the provider does not offer this cipher"));
    if (key.count == 32 && nonce.count == 12) return LD_OK;
    return unsupported(error, BYTES("the key has 32 bytes and the nonce 12"));
}

static ld_status seal(
    void *self, ld_algorithm_id algorithm, ld_bytes key, ld_bytes nonce, ld_bytes data, ld_bytes plaintext,
    void *ciphertext, void *tag, const ld_error_sink *error) {
    (void)self;
    stream s;
    if (check_cipher(algorithm, key, nonce, error) != LD_OK) return LD_FAILED;
    start(&s, key, nonce, data, 1);
    update(&s, plaintext, ciphertext);
    finish(&s, tag);
    return LD_OK;
}

static ld_status open_sealed(
    void *self, ld_algorithm_id algorithm, ld_bytes key, ld_bytes nonce, ld_bytes data, ld_bytes ciphertext,
    ld_bytes tag, void *plaintext, const ld_error_sink *error) {
    (void)self;
    stream s;
    byte right[16];
    if (check_cipher(algorithm, key, nonce, error) != LD_OK) return LD_FAILED;
    if (tag.count != 16) return unsupported(error, BYTES("the tag has 16 bytes"));
    start(&s, key, nonce, data, 0);
    update(&s, ciphertext, plaintext);
    finish(&s, right);
    int opens = same(right, tag.data, 16);
    clear(right, sizeof right);
    if (opens) return LD_OK;
    if (ciphertext.count > 0) clear(plaintext, ciphertext.count);
    return fail(error, LD_ERROR_CANNOT_OPEN, BYTES("the tag does not fit"));
}

/* ------------------------------------------------------------------ SHA-256, HMAC, HKDF, PBKDF2 ------------------ */

typedef struct sha256 {
    u32 state[8];
    u64 count;
    byte block[64];
} sha256;

static const u32 K256[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

#define RIGHT(word, by) ((word) >> (by) | (word) << (32 - (by)))

static void sha256_block(sha256 *s, const byte *block) {
    u32 w[64], v[8];
    for (int i = 0; i < 16; i++) {
        w[i] = (u32)block[4 * i] << 24 | (u32)block[4 * i + 1] << 16 | (u32)block[4 * i + 2] << 8 | block[4 * i + 3];
    }
    for (int i = 16; i < 64; i++) {
        u32 a = RIGHT(w[i - 15], 7) ^ RIGHT(w[i - 15], 18) ^ w[i - 15] >> 3;
        u32 b = RIGHT(w[i - 2], 17) ^ RIGHT(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + a + w[i - 7] + b;
    }
    memcpy(v, s->state, sizeof v);
    for (int i = 0; i < 64; i++) {
        u32 t = v[7] + (RIGHT(v[4], 6) ^ RIGHT(v[4], 11) ^ RIGHT(v[4], 25)) + ((v[4] & v[5]) ^ (~v[4] & v[6])) + K256[i] + w[i];
        u32 u = (RIGHT(v[0], 2) ^ RIGHT(v[0], 13) ^ RIGHT(v[0], 22)) + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
        for (int j = 7; j > 0; j--) v[j] = v[j - 1];
        v[4] += t;
        v[0] = t + u;
    }
    for (int i = 0; i < 8; i++) s->state[i] += v[i];
    clear(w, sizeof w);
    clear(v, sizeof v);
}

static void sha256_add(sha256 *s, const void *bytes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        s->block[s->count++ % 64] = ((const byte *)bytes)[i];
        if (s->count % 64 == 0) sha256_block(s, s->block);
    }
}

static void sha256_start(sha256 *s) {
    static const u32 initial[8] = {
        0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19
    };
    memcpy(s->state, initial, sizeof initial);
    s->count = 0;
}

static void sha256_end(sha256 *s, byte *digest) {
    byte length[8];
    for (int i = 0; i < 8; i++) length[i] = (byte)(s->count * 8 >> (56 - 8 * i));
    sha256_add(s, "\x80", 1);
    while (s->count % 64 != 56) sha256_add(s, "", 1);
    sha256_add(s, length, 8);
    for (int i = 0; i < 32; i++) digest[i] = (byte)(s->state[i / 4] >> (24 - i % 4 * 8));
    clear(s, sizeof *s);
}

typedef struct hmac {
    sha256 inner, outer;
} hmac;

static void hmac_start(hmac *h, const void *key, size_t count) {
    byte block[64] = {0};
    if (count > 64) {
        sha256_start(&h->inner);
        sha256_add(&h->inner, key, count);
        sha256_end(&h->inner, block);
    } else if (count > 0) {
        memcpy(block, key, count);
    }
    for (int i = 0; i < 64; i++) block[i] ^= 0x36;
    sha256_start(&h->inner);
    sha256_add(&h->inner, block, 64);
    for (int i = 0; i < 64; i++) block[i] ^= 0x36 ^ 0x5c;
    sha256_start(&h->outer);
    sha256_add(&h->outer, block, 64);
    clear(block, sizeof block);
}

static void hmac_end(hmac *h, byte *code) {
    sha256_end(&h->inner, code);
    sha256_add(&h->outer, code, 32);
    sha256_end(&h->outer, code);
}

static void hkdf(const ld_derivation *with, byte *output, size_t count) {
    byte key[32], block[32], number = 0;
    hmac h;
    hmac_start(&h, with->salt.data, with->salt.count);
    sha256_add(&h.inner, with->secret.data, with->secret.count);
    hmac_end(&h, key);
    for (size_t made = 0; made < count; made += 32) {
        hmac_start(&h, key, 32);
        if (made > 0) sha256_add(&h.inner, block, 32);
        sha256_add(&h.inner, with->info.data, with->info.count);
        number++;
        sha256_add(&h.inner, &number, 1);
        hmac_end(&h, block);
        memcpy(output + made, block, count - made < 32 ? count - made : 32);
    }
    clear(key, sizeof key);
    clear(block, sizeof block);
}

static void pbkdf2(const ld_derivation *with, byte *output, size_t count) {
    byte block[32], sum[32], number[4];
    hmac keyed, h;
    hmac_start(&keyed, with->secret.data, with->secret.count);
    for (size_t made = 0; made < count; made += 32) {
        for (int i = 0; i < 4; i++) number[i] = (byte)((made / 32 + 1) >> (24 - 8 * i));
        h = keyed;
        sha256_add(&h.inner, with->salt.data, with->salt.count);
        sha256_add(&h.inner, number, 4);
        hmac_end(&h, block);
        memcpy(sum, block, 32);
        for (u64 pass = 1; pass < with->iterations; pass++) {
            h = keyed;
            sha256_add(&h.inner, block, 32);
            hmac_end(&h, block);
            for (int i = 0; i < 32; i++) sum[i] ^= block[i];
        }
        memcpy(output + made, sum, count - made < 32 ? count - made : 32);
    }
    clear(&keyed, sizeof keyed);
    clear(block, sizeof block);
    clear(sum, sizeof sum);
}

static ld_status derive(
    void *self, ld_algorithm_id algorithm, const ld_derivation *with, void *output, size_t count,
    const ld_error_sink *error) {
    (void)self;
    if (algorithm != LD_HKDF_SHA256 && algorithm != LD_PBKDF2_HMAC_SHA256) {
        return unsupported(error, BYTES("the provider does not offer this derivation"));
    }
    if (count == 0) return unsupported(error, BYTES("a key has at least one byte"));
    if (algorithm == LD_HKDF_SHA256) {
        if (count > 8160) return unsupported(error, BYTES("HKDF-SHA256 derives at most 8160 bytes"));
        hkdf(with, output, count);
    } else {
        if (with->iterations == 0) return unsupported(error, BYTES("PBKDF2 needs at least one iteration"));
        pbkdf2(with, output, count);
    }
    return LD_OK;
}

static ld_status random_bytes(void *self, void *output, size_t count, const ld_error_sink *error) {
    (void)self;
    for (size_t made = 0; made < count;) {
        long part = getrandom((byte *)output + made, count - made, 0);
        if (part < 0) return fail(error, LD_ERROR_UNKNOWN, BYTES("the system gives no random bytes"));
        made += (size_t)part;
    }
    return LD_OK;
}

/* ------------------------------------------------------------------ the field of 2^255 - 19 ---------------------- */

typedef i64 field[16];

static const field zero = {0}, one = {1}, a24 = {0xdb41, 1};
static const field D = {
    0x78a3, 0x1359, 0x4dca, 0x75eb, 0xd8ab, 0x4141, 0x0a4d, 0x0070, 0xe898, 0x7779, 0x4079, 0x8cc7, 0xfe73, 0x2b6f, 0x6cee, 0x5203
};
static const field D2 = {
    0xf159, 0x26b2, 0x9b94, 0xebd6, 0xb156, 0x8283, 0x149a, 0x00e0, 0xd130, 0xeef3, 0x80f2, 0x198e, 0xfce7, 0x56df, 0xd9dc, 0x2406
};
static const field BASE_X = {
    0xd51a, 0x8f25, 0x2d60, 0xc956, 0xa7b2, 0x9525, 0xc760, 0x692c, 0xdc5c, 0xfdd6, 0xe231, 0xc0a4, 0x53fe, 0xcd6e, 0x36d3, 0x2169
};
static const field BASE_Y = {
    0x6658, 0x6666, 0x6666, 0x6666, 0x6666, 0x6666, 0x6666, 0x6666, 0x6666, 0x6666, 0x6666, 0x6666, 0x6666, 0x6666, 0x6666, 0x6666
};
static const field ROOT = {
    0xa0b0, 0x4a0e, 0x1b27, 0xc4ee, 0xe478, 0xad2f, 0x1806, 0x2f43, 0xd7a7, 0x3dfb, 0x0099, 0x2b4d, 0xdf0b, 0x4fc1, 0x2480, 0x2b83
};

static void copy(field to, const field from) { memcpy(to, from, sizeof(field)); }

static void carry(field o) {
    for (int i = 0; i < 16; i++) {
        o[i] += (i64)1 << 16;
        i64 c = o[i] >> 16;
        o[(i + 1) * (i < 15)] += c - 1 + 37 * (c - 1) * (i == 15);
        o[i] -= (i64)((u64)c << 16);
    }
}

static void choose(field p, field q, int swaps) {
    i64 mask = ~((i64)swaps - 1);
    for (int i = 0; i < 16; i++) {
        i64 t = mask & (p[i] ^ q[i]);
        p[i] ^= t;
        q[i] ^= t;
    }
}

static void pack(byte *o, const field n) {
    field m, t;
    copy(t, n);
    carry(t);
    carry(t);
    carry(t);
    for (int j = 0; j < 2; j++) {
        m[0] = t[0] - 0xffed;
        for (int i = 1; i < 15; i++) {
            m[i] = t[i] - 0xffff - ((m[i - 1] >> 16) & 1);
            m[i - 1] &= 0xffff;
        }
        m[15] = t[15] - 0x7fff - ((m[14] >> 16) & 1);
        int b = (m[15] >> 16) & 1;
        m[14] &= 0xffff;
        choose(t, m, 1 - b);
    }
    for (int i = 0; i < 16; i++) {
        o[2 * i] = (byte)t[i];
        o[2 * i + 1] = (byte)(t[i] >> 8);
    }
}

static int differ(const field a, const field b) {
    byte c[32], d[32];
    pack(c, a);
    pack(d, b);
    return !same(c, d, 32);
}

static byte parity(const field a) {
    byte d[32];
    pack(d, a);
    return d[0] & 1;
}

static void unpack(field o, const byte *n) {
    for (int i = 0; i < 16; i++) o[i] = n[2 * i] + ((i64)n[2 * i + 1] << 8);
    o[15] &= 0x7fff;
}

static void plus(field o, const field a, const field b) {
    for (int i = 0; i < 16; i++) o[i] = a[i] + b[i];
}

static void minus(field o, const field a, const field b) {
    for (int i = 0; i < 16; i++) o[i] = a[i] - b[i];
}

static void times(field o, const field a, const field b) {
    i64 t[31] = {0};
    for (int i = 0; i < 16; i++) {
        for (int j = 0; j < 16; j++) t[i + j] += a[i] * b[j];
    }
    for (int i = 0; i < 15; i++) t[i] += 38 * t[i + 16];
    for (int i = 0; i < 16; i++) o[i] = t[i];
    carry(o);
    carry(o);
}

static void square(field o, const field a) { times(o, a, a); }

static void invert(field o, const field i) {
    field c;
    copy(c, i);
    for (int a = 253; a >= 0; a--) {
        square(c, c);
        if (a != 2 && a != 4) times(c, c, i);
    }
    copy(o, c);
}

static void power(field o, const field i) {
    field c;
    copy(c, i);
    for (int a = 250; a >= 0; a--) {
        square(c, c);
        if (a != 1) times(c, c, i);
    }
    copy(o, c);
}

/* ------------------------------------------------------------------ X25519 (RFC 7748) ---------------------------- */

static void x25519(byte *q, const byte *n, const byte *p) {
    byte z[32];
    field x, a, b, c, d, e, f;
    memcpy(z, n, 32);
    z[31] = (n[31] & 127) | 64;
    z[0] &= 248;
    unpack(x, p);
    copy(b, x);
    copy(a, one);
    copy(c, zero);
    copy(d, one);
    for (int i = 254; i >= 0; i--) {
        int r = (z[i >> 3] >> (i & 7)) & 1;
        choose(a, b, r);
        choose(c, d, r);
        plus(e, a, c);
        minus(a, a, c);
        plus(c, b, d);
        minus(b, b, d);
        square(d, e);
        square(f, a);
        times(a, c, a);
        times(c, b, e);
        plus(e, a, c);
        minus(a, a, c);
        square(b, a);
        minus(c, d, f);
        times(a, c, a24);
        plus(a, a, d);
        times(c, c, a);
        times(a, d, f);
        times(d, b, x);
        square(b, e);
        choose(a, b, r);
        choose(c, d, r);
    }
    invert(c, c);
    times(a, a, c);
    pack(q, a);
    clear(z, sizeof z);
    clear(a, sizeof a);
    clear(b, sizeof b);
    clear(c, sizeof c);
    clear(d, sizeof d);
    clear(e, sizeof e);
    clear(f, sizeof f);
}

static ld_status public_key(
    void *self, ld_algorithm_id algorithm, ld_bytes private_key, void *public_key, const ld_error_sink *error) {
    (void)self;
    static const byte nine[32] = {9};
    if (algorithm != LD_X25519) return unsupported(error, BYTES("the provider does not offer this key agreement"));
    if (private_key.count != 32) return unsupported(error, BYTES("a key of X25519 has 32 bytes"));
    x25519(public_key, private_key.data, nine);
    return LD_OK;
}

static ld_status agree(
    void *self, ld_algorithm_id algorithm, ld_bytes private_key, ld_bytes public_key, void *shared,
    const ld_error_sink *error) {
    (void)self;
    static const byte zeros[32];
    if (algorithm != LD_X25519) return unsupported(error, BYTES("the provider does not offer this key agreement"));
    if (private_key.count != 32 || public_key.count != 32) return unsupported(error, BYTES("a key of X25519 has 32 bytes"));
    x25519(shared, private_key.data, public_key.data);
    return same(shared, zeros, 32) ? fail(error, LD_ERROR_SECURITY, BYTES("the public key has a small order")) : LD_OK;
}

/* ------------------------------------------------------------------ SHA-512 -------------------------------------- */

static const u64 K512[80] = {
    0x428a2f98d728ae22, 0x7137449123ef65cd, 0xb5c0fbcfec4d3b2f, 0xe9b5dba58189dbbc, 0x3956c25bf348b538,
    0x59f111f1b605d019, 0x923f82a4af194f9b, 0xab1c5ed5da6d8118, 0xd807aa98a3030242, 0x12835b0145706fbe,
    0x243185be4ee4b28c, 0x550c7dc3d5ffb4e2, 0x72be5d74f27b896f, 0x80deb1fe3b1696b1, 0x9bdc06a725c71235,
    0xc19bf174cf692694, 0xe49b69c19ef14ad2, 0xefbe4786384f25e3, 0x0fc19dc68b8cd5b5, 0x240ca1cc77ac9c65,
    0x2de92c6f592b0275, 0x4a7484aa6ea6e483, 0x5cb0a9dcbd41fbd4, 0x76f988da831153b5, 0x983e5152ee66dfab,
    0xa831c66d2db43210, 0xb00327c898fb213f, 0xbf597fc7beef0ee4, 0xc6e00bf33da88fc2, 0xd5a79147930aa725,
    0x06ca6351e003826f, 0x142929670a0e6e70, 0x27b70a8546d22ffc, 0x2e1b21385c26c926, 0x4d2c6dfc5ac42aed,
    0x53380d139d95b3df, 0x650a73548baf63de, 0x766a0abb3c77b2a8, 0x81c2c92e47edaee6, 0x92722c851482353b,
    0xa2bfe8a14cf10364, 0xa81a664bbc423001, 0xc24b8b70d0f89791, 0xc76c51a30654be30, 0xd192e819d6ef5218,
    0xd69906245565a910, 0xf40e35855771202a, 0x106aa07032bbd1b8, 0x19a4c116b8d2d0c8, 0x1e376c085141ab53,
    0x2748774cdf8eeb99, 0x34b0bcb5e19b48a8, 0x391c0cb3c5c95a63, 0x4ed8aa4ae3418acb, 0x5b9cca4f7763e373,
    0x682e6ff3d6b2b8a3, 0x748f82ee5defb2fc, 0x78a5636f43172f60, 0x84c87814a1f0ab72, 0x8cc702081a6439ec,
    0x90befffa23631e28, 0xa4506cebde82bde9, 0xbef9a3f7b2c67915, 0xc67178f2e372532b, 0xca273eceea26619c,
    0xd186b8c721c0c207, 0xeada7dd6cde0eb1e, 0xf57d4f7fee6ed178, 0x06f067aa72176fba, 0x0a637dc5a2c898a6,
    0x113f9804bef90dae, 0x1b710b35131c471b, 0x28db77f523047d84, 0x32caab7b40c72493, 0x3c9ebe0a15c9bebc,
    0x431d67c49c100d4c, 0x4cc5d4becb3e42b6, 0x597f299cfc657e2a, 0x5fcb6fab3ad6faec, 0x6c44198c4a475817,
};

typedef struct sha512 {
    u64 state[8], count;
    byte block[128];
} sha512;

#define RIGHT64(word, by) ((word) >> (by) | (word) << (64 - (by)))

static void sha512_block(sha512 *s, const byte *block) {
    u64 w[80], v[8];
    for (int i = 0; i < 16; i++) {
        w[i] = 0;
        for (int j = 0; j < 8; j++) w[i] = w[i] << 8 | block[8 * i + j];
    }
    for (int i = 16; i < 80; i++) {
        u64 a = RIGHT64(w[i - 15], 1) ^ RIGHT64(w[i - 15], 8) ^ w[i - 15] >> 7;
        u64 b = RIGHT64(w[i - 2], 19) ^ RIGHT64(w[i - 2], 61) ^ w[i - 2] >> 6;
        w[i] = w[i - 16] + a + w[i - 7] + b;
    }
    memcpy(v, s->state, sizeof v);
    for (int i = 0; i < 80; i++) {
        u64 t = v[7] + (RIGHT64(v[4], 14) ^ RIGHT64(v[4], 18) ^ RIGHT64(v[4], 41)) + ((v[4] & v[5]) ^ (~v[4] & v[6])) + K512[i]
            + w[i];
        u64 u = (RIGHT64(v[0], 28) ^ RIGHT64(v[0], 34) ^ RIGHT64(v[0], 39))
            + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
        for (int j = 7; j > 0; j--) v[j] = v[j - 1];
        v[4] += t;
        v[0] = t + u;
    }
    for (int i = 0; i < 8; i++) s->state[i] += v[i];
    clear(w, sizeof w);
    clear(v, sizeof v);
}

static void sha512_start(sha512 *s) {
    static const u64 initial[8] = {
        0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
        0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179,
    };
    memcpy(s->state, initial, sizeof initial);
    s->count = 0;
}

static void sha512_add(sha512 *s, const void *bytes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        s->block[s->count++ % 128] = ((const byte *)bytes)[i];
        if (s->count % 128 == 0) sha512_block(s, s->block);
    }
}

static void sha512_end(sha512 *s, byte *digest) {
    byte length[16] = {0};
    for (int i = 0; i < 8; i++) length[8 + i] = (byte)(s->count * 8 >> (56 - 8 * i));
    sha512_add(s, "\x80", 1);
    while (s->count % 128 != 112) sha512_add(s, "", 1);
    sha512_add(s, length, 16);
    for (int i = 0; i < 64; i++) digest[i] = (byte)(s->state[i / 8] >> (56 - i % 8 * 8));
    clear(s, sizeof *s);
}

/* ------------------------------------------------------------------ Ed25519 (RFC 8032) --------------------------- */

static void add_points(field p[4], field q[4]) {
    field a, b, c, d, t, e, f, g, h;
    minus(a, p[1], p[0]);
    minus(t, q[1], q[0]);
    times(a, a, t);
    plus(b, p[0], p[1]);
    plus(t, q[0], q[1]);
    times(b, b, t);
    times(c, p[3], q[3]);
    times(c, c, D2);
    times(d, p[2], q[2]);
    plus(d, d, d);
    minus(e, b, a);
    minus(f, d, c);
    plus(g, d, c);
    plus(h, b, a);
    times(p[0], e, f);
    times(p[1], h, g);
    times(p[2], g, f);
    times(p[3], e, h);
}

static void swap_points(field p[4], field q[4], int swaps) {
    for (int i = 0; i < 4; i++) choose(p[i], q[i], swaps);
}

static void pack_point(byte *r, field p[4]) {
    field x, y, z;
    invert(z, p[2]);
    times(x, p[0], z);
    times(y, p[1], z);
    pack(r, y);
    r[31] ^= (byte)(parity(x) << 7);
}

static void multiply(field p[4], field q[4], const byte *s) {
    copy(p[0], zero);
    copy(p[1], one);
    copy(p[2], one);
    copy(p[3], zero);
    for (int i = 255; i >= 0; i--) {
        int bit = (s[i / 8] >> (i & 7)) & 1;
        swap_points(p, q, bit);
        add_points(q, p);
        add_points(p, p);
        swap_points(p, q, bit);
    }
}

static void multiply_base(field p[4], const byte *s) {
    field q[4];
    copy(q[0], BASE_X);
    copy(q[1], BASE_Y);
    copy(q[2], one);
    times(q[3], BASE_X, BASE_Y);
    multiply(p, q, s);
}

static const i64 L[32] = {
    0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14,
    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0x10,
};

static void modulo(byte *r, i64 x[64]) {
    i64 c;
    int i, j;
    for (i = 63; i >= 32; i--) {
        c = 0;
        for (j = i - 32; j < i - 12; j++) {
            x[j] += c - 16 * x[i] * L[j - (i - 32)];
            c = (x[j] + 128) >> 8;
            x[j] -= (i64)((u64)c << 8);
        }
        x[j] += c;
        x[i] = 0;
    }
    c = 0;
    for (j = 0; j < 32; j++) {
        x[j] += c - (x[31] >> 4) * L[j];
        c = x[j] >> 8;
        x[j] &= 255;
    }
    for (j = 0; j < 32; j++) x[j] -= c * L[j];
    for (i = 0; i < 32; i++) {
        x[i + 1] += x[i] >> 8;
        r[i] = (byte)(x[i] & 255);
    }
}

static void reduce(byte *r) {
    i64 x[64];
    for (int i = 0; i < 64; i++) x[i] = r[i];
    memset(r, 0, 64);
    modulo(r, x);
}

/* The negative of an encoded point; 0 if it is none. */
static int unpack_negative(field r[4], const byte *p) {
    field t, check, numerator, denominator, d2, d4, d6;
    copy(r[2], one);
    unpack(r[1], p);
    square(numerator, r[1]);
    times(denominator, numerator, D);
    minus(numerator, numerator, r[2]);
    plus(denominator, r[2], denominator);
    square(d2, denominator);
    square(d4, d2);
    times(d6, d4, d2);
    times(t, d6, numerator);
    times(t, t, denominator);
    power(t, t);
    times(t, t, numerator);
    times(t, t, denominator);
    times(t, t, denominator);
    times(r[0], t, denominator);
    square(check, r[0]);
    times(check, check, denominator);
    if (differ(check, numerator)) times(r[0], r[0], ROOT);
    square(check, r[0]);
    times(check, check, denominator);
    if (differ(check, numerator)) return 0;
    if (parity(r[0]) == p[31] >> 7) minus(r[0], zero, r[0]);
    times(r[3], r[0], r[1]);
    return 1;
}

/* The secret scalar and the prefix of a private key. */
static void expand(byte *d, const byte *key) {
    sha512 s;
    sha512_start(&s);
    sha512_add(&s, key, 32);
    sha512_end(&s, d);
    d[0] &= 248;
    d[31] = (d[31] & 127) | 64;
}

static void public_of(byte *public, const byte *d) {
    field p[4];
    multiply_base(p, d);
    pack_point(public, p);
    clear(p, sizeof p);
}

static ld_status check_key(ld_algorithm_id algorithm, ld_bytes key, const ld_error_sink *error) {
    if (algorithm != LD_ED25519) return unsupported(error, BYTES("the provider does not offer this signature"));
    return key.count == 32 ? LD_OK : unsupported(error, BYTES("a key of Ed25519 has 32 bytes"));
}

static ld_status signing_key(
    void *self, ld_algorithm_id algorithm, ld_bytes private_key, void *public_key, const ld_error_sink *error) {
    (void)self;
    byte d[64];
    if (check_key(algorithm, private_key, error) != LD_OK) return LD_FAILED;
    expand(d, private_key.data);
    public_of(public_key, d);
    clear(d, sizeof d);
    return LD_OK;
}

/* The hash of R, A and the message, as a scalar. */
static void challenge(byte *h, const byte *r, const byte *public, ld_bytes message) {
    sha512 s;
    sha512_start(&s);
    sha512_add(&s, r, 32);
    sha512_add(&s, public, 32);
    sha512_add(&s, message.data, message.count);
    sha512_end(&s, h);
    reduce(h);
}

static ld_status sign(
    void *self, ld_algorithm_id algorithm, ld_bytes private_key, ld_bytes message, void *signature,
    const ld_error_sink *error) {
    (void)self;
    byte d[64], r[64], h[64], public[32], *made = signature;
    field p[4];
    i64 x[64] = {0};
    sha512 s;
    if (check_key(algorithm, private_key, error) != LD_OK) return LD_FAILED;
    expand(d, private_key.data);
    public_of(public, d);
    sha512_start(&s);
    sha512_add(&s, d + 32, 32);
    sha512_add(&s, message.data, message.count);
    sha512_end(&s, r);
    reduce(r);
    multiply_base(p, r);
    pack_point(made, p);
    challenge(h, made, public, message);
    for (int i = 0; i < 32; i++) x[i] = r[i];
    for (int i = 0; i < 32; i++) {
        for (int j = 0; j < 32; j++) x[i + j] += (i64)h[i] * d[j];
    }
    modulo(made + 32, x);
    clear(d, sizeof d);
    clear(r, sizeof r);
    clear(x, sizeof x);
    clear(p, sizeof p);
    return LD_OK;
}

/* Whether an encoding has a y below the prime, is a point, and one of no small order. */
static int is_usable(field p[4], const byte *encoded) {
    static const byte eight[32] = {8};
    byte middle = 0xff, packed[32];
    static const byte identity[32] = {1};
    field copied[4], q[4];
    for (int i = 1; i < 31; i++) middle &= encoded[i];
    if ((encoded[31] & 127) == 127 && middle == 0xff && encoded[0] >= 0xed) return 0;
    if (!unpack_negative(p, encoded)) return 0;
    memcpy(copied, p, sizeof copied);
    multiply(q, copied, eight);
    pack_point(packed, q);
    return !same(packed, identity, 32);
}

static int is_below_order(const byte *s) {
    for (int i = 31; i >= 0; i--) {
        if (s[i] != L[i]) return s[i] < L[i];
    }
    return 0;
}

static ld_status verify(
    void *self, ld_algorithm_id algorithm, ld_bytes public_key, ld_bytes message, ld_bytes signature,
    const ld_error_sink *error) {
    (void)self;
    const byte *given = signature.data;
    byte h[64], packed[32];
    field a[4], r[4], p[4], q[4];
    if (check_key(algorithm, public_key, error) != LD_OK) return LD_FAILED;
    if (signature.count != 64) return unsupported(error, BYTES("a signature of Ed25519 has 64 bytes"));
    int is_right = is_below_order(given + 32) && is_usable(a, public_key.data) && is_usable(r, given);
    if (is_right) {
        challenge(h, given, public_key.data, message);
        multiply(p, a, h);
        multiply_base(q, given + 32);
        add_points(p, q);
        pack_point(packed, p);
        is_right = same(packed, given, 32);
    }
    return is_right ? LD_OK : fail(error, LD_ERROR_CANNOT_OPEN, BYTES("the signature is wrong"));
}

static const ld_crypto_signatures signatures = {sizeof signatures, signing_key, sign, verify};

/* ------------------------------------------------------------------ the plugin ---------------------------------- */

static const void *extension(void *self, ld_bytes id) {
    (void)self;
    return equals(id, BYTES(LD_CRYPTO_SIGNATURES)) ? &signatures : NULL;
}

static const ld_algorithm cipher = {sizeof cipher, LD_CHACHA20_POLY1305, 32, 12, 16, 0, ((u64)1 << 38) - 64};
static const ld_algorithm with_hkdf = {sizeof with_hkdf, LD_HKDF_SHA256, 0, 0, 0, 0, 8160};
static const ld_algorithm with_pbkdf2 = {sizeof with_pbkdf2, LD_PBKDF2_HMAC_SHA256, 0, 0, 0, 0, 1u << 30};
static const ld_algorithm agreement = {sizeof agreement, LD_X25519, 32, 0, 0, 0, 0};
static const ld_algorithm signature = {sizeof signature, LD_ED25519, 32, 0, 0, 0, 0};
static const ld_algorithm *const algorithms[] = {&cipher, &with_hkdf, &with_pbkdf2, &agreement, &signature};

static void close_provider(void *self) { (void)self; }

static const ld_crypto provider = {
    .size = sizeof provider, .algorithms = algorithms, .algorithm_count = 5, .seal = seal, .open = open_sealed,
    .derive = derive, .random = random_bytes, .extension = extension, .close = close_provider,
    .public_key = public_key, .agree = agree,
};

static ld_status open_provider(
    void *context, const ld_host *host, ld_bytes options, const void **table, const ld_error_sink *error) {
    (void)context, (void)host, (void)options, (void)error;
    *table = &provider;
    return LD_OK;
}

static const ld_component component = {
    .size = sizeof component, .kind = LD_KIND_CRYPTO, .id = TEXT("kept-crypto"),
    .summary = TEXT("computes by itself, with every table of ABI 1.1"), .open = open_provider,
};
static const ld_component *const components[] = {&component};
static const ld_plugin plugin = {
    .size = sizeof plugin, .magic = LD_MAGIC, .abi_major = LD_ABI_MAJOR, .abi_minor = LD_ABI_MINOR,
    .name = TEXT("KeptCrypto"), .version = TEXT("1.0.0"), .components = components, .component_count = 1,
};

LD_EXPORT const void *localdata_plugin_v1(void);
const void *localdata_plugin_v1(void) { return &plugin; }
