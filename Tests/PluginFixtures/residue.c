/*
 * Searches the memory of a crypto provider's process for keys and plaintext that it left: residue PLUGIN.
 *
 * For each algorithm it computes with random keys, overwrites its own copies of them, and searches all writable memory:
 * the stack, the heap, the data of libraries. It stores each secret with all bytes changed, so as not to find its own
 * records. It prints a line for each find and for each algorithm, and ends with 1 if anything was found.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <localdata/plugin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>

#define PIECE 16
#define CHANGE 0x5a
#define AREA (1 << 20)

static volatile unsigned char pieces[64][PIECE];
static const char *names[64];
static int piece_count, finds, failures;

static ld_bytes bytes(const void *data, size_t count) { return (ld_bytes){data, count}; }

static void report(void *context, ld_error_code code, ld_bytes message, ld_bytes hint) {
    (void)context, (void)message, (void)hint;
    if (code != LD_ERROR_CANNOT_OPEN) failures++;
}

static void wipe(volatile unsigned char *memory, size_t count) {
    while (count--) *memory++ = 0;
}

/* Records 16 bytes that must not be found. */
static void note(const char *name, const unsigned char *secret) {
    for (int i = 0; i < PIECE; i++) pieces[piece_count][i] = secret[i] ^ CHANGE;
    names[piece_count++] = name;
}

static int holds(const unsigned char *memory, int piece) {
    for (int i = 0; i < PIECE; i++)
        if ((memory[i] ^ CHANGE) != pieces[piece][i]) return 0;
    return 1;
}

static void search(const char *what, int number) {
    static char line[512];
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps)) {
        unsigned long start, end;
        char mode[8], path[256] = "";
        if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %255s", &start, &end, mode, path) < 3) continue;
        if (mode[0] != 'r' || mode[1] != 'w') continue;
        for (const unsigned char *at = (void *)start; at + PIECE <= (const unsigned char *)end; at++)
            for (int i = 0; i < piece_count; i++)
                if (holds(at, i)) {
                    printf("%s %d: found %s in %s\n", what, number, names[i], path);
                    finds++;
                }
    }
    if (maps) fclose(maps);
    printf("%s %d: searched for %d pieces\n", what, number, piece_count);
    piece_count = 0;
}

static unsigned char times(unsigned char a, unsigned char b) {
    unsigned char product = 0;
    for (; b; b >>= 1, a = (unsigned char)(a << 1 ^ (a & 0x80 ? 0x1b : 0)))
        if (b & 1) product ^= a;
    return product;
}

static unsigned char substitute(unsigned char value) {
    unsigned char inverse = 1, result = 0x63;
    for (int i = 0; i < 254; i++) inverse = times(inverse, value);
    for (int i = 0; i < 5; i++) result ^= (unsigned char)(inverse << i | inverse >> (8 - i));
    return result;
}

/* Records the round keys of AES-256 (FIPS 197, section 5.2) after the first two, which are the key. */
static void note_schedule(const unsigned char *key, unsigned char schedule[240]) {
    unsigned char constant = 1;
    memcpy(schedule, key, 32);
    for (int word = 8; word < 60; word++) {
        unsigned char next[4];
        memcpy(next, schedule + 4 * word - 4, 4);
        if (word % 8 == 0) {
            unsigned char first = next[0];
            for (int i = 0; i < 3; i++) next[i] = substitute(next[i + 1]);
            next[3] = substitute(first);
            next[0] ^= constant;
            constant = times(constant, 2);
        } else if (word % 8 == 4) {
            for (int i = 0; i < 4; i++) next[i] = substitute(next[i]);
        }
        for (int i = 0; i < 4; i++) schedule[4 * word + i] = schedule[4 * word - 32 + i] ^ next[i];
    }
    for (int round = 2; round < 15; round++) note("a round key", schedule + 16 * round);
}

/* The bytes of the key that signs, and their SHA-512, of which a signature's secrets are parts (RFC 8032, 5.1.5). */
static unsigned char signing_key(int at) { return (unsigned char)(at * 29 ^ 0xa5); }
static const unsigned char expanded[64] = {
    0xf2, 0x20, 0xb7, 0x62, 0x7c, 0xfe, 0xf2, 0xb6, 0x5d, 0x9c, 0xd3, 0xe3, 0x5b, 0xb8, 0xf3, 0x96,
    0x3a, 0xe0, 0x1c, 0xd1, 0xba, 0x06, 0x80, 0xb7, 0x58, 0x63, 0x4d, 0xe5, 0x2e, 0xf5, 0x7e, 0x1e,
    0x1f, 0x4c, 0x74, 0x56, 0x66, 0x81, 0x0d, 0x1f, 0x11, 0xfa, 0x53, 0xa4, 0x7b, 0x12, 0xe6, 0x73,
    0x03, 0xe1, 0xa3, 0xcc, 0xac, 0x75, 0x74, 0x41, 0x24, 0xe2, 0x1b, 0x4c, 0xfc, 0x3b, 0x6c, 0xb6,
};

/* Records the expansion of an Ed25519 key, except its first and its 32nd byte, whose bits change. */
static void note_expanded(void) {
    note("the scalar's start", expanded + 1);
    note("the scalar's end", expanded + 15);
    note("the prefix's start", expanded + 32);
    note("the prefix's end", expanded + 48);
}

int main(int count, char **arguments) {
    void *library = count > 1 ? dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    const void *(*entry)(void) = library ? (const void *(*)(void))dlsym(library, "localdata_plugin_v1") : NULL;
    unsigned char *area = mmap(NULL, AREA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!entry || area == MAP_FAILED) {
        fprintf(stderr, "usage: residue PLUGIN: %s\n", library ? "no entry" : dlerror());
        return 2;
    }
    const ld_component *component = ((const ld_plugin *)entry())->components[0];
    static ld_host host = {.size = sizeof host};
    ld_error_sink sink = {sizeof sink, NULL, report};
    const void *table = NULL;
    if (component->open(component->context, &host, bytes("{}", 2), &table, &sink) != LD_OK) return 2;
    const ld_crypto *crypto = table;
    const ld_crypto_signatures *signatures =
        crypto->extension(crypto->self, bytes(LD_CRYPTO_SIGNATURES, strlen(LD_CRYPTO_SIGNATURES)));
    unsigned char *key = area, *nonce = area + 64, *tag = area + 128, *input = area + 256, *output = area + 512;
    unsigned char *expected = area + 1024, *schedule = area + 1536;
    void *self = crypto->self;

    /* Checks the search: it must find a key that this program itself holds. */
    getrandom(key, 32, 0);
    note("its own key", key);
    search("what is there", 0);
    if (finds != 1) return 2;
    finds = 0;

    for (size_t i = 0; i < crypto->algorithm_count; i++) {
        const ld_algorithm *algorithm = crypto->algorithms[i];
        int number = algorithm->id;
        getrandom(key, 32, 0);
        getrandom(nonce, 24, 0);
        getrandom(input, 200, 0);
        for (int at = 0; at < 32 && number == LD_ED25519; at++) key[at] = signing_key(at);
        note("the secret's start", key);
        note("the secret's end", key + 16);
        ld_bytes secret = bytes(key, 32), once = bytes(nonce, algorithm->nonce_size), data = bytes(nonce, 16);
        if (number < LD_HKDF_SHA256) {
            note("the plaintext's start", input);
            note("the plaintext's end", input + 184);
            if (number == LD_AES_256_GCM) note_schedule(key, schedule);
            for (int again = 0; again < 3; again++)
                crypto->seal(self, number, secret, once, data, bytes(input, 200), output, tag, &sink);
            ld_bytes sealed = bytes(output, 200), mark = bytes(tag, 16);
            crypto->open(self, number, secret, once, data, sealed, mark, expected, &sink);
            if (memcmp(expected, input, 200)) failures++;
            tag[0] ^= 1;
            crypto->open(self, number, secret, once, data, sealed, mark, expected, &sink);
        } else if (number < LD_X25519) {
            ld_derivation derivation = {sizeof derivation, 1, secret, data, data, 3, 65536};
            crypto->derive(self, number, &derivation, output, 64, &sink);
            for (int at = 0; at < 64; at += 16) note("the derived key", output + at);
        } else if (number == LD_ED25519) {
            note_expanded();
            signatures->public_key(self, number, secret, expected, &sink);
            signatures->sign(self, number, secret, bytes(input, 200), output, &sink);
            signatures->verify(
                self, number, bytes(expected, 32), bytes(input, 200), bytes(output, 64), &sink);
        } else {
            crypto->public_key(self, number, secret, input, &sink);
            crypto->agree(self, number, secret, bytes(input, 32), output, &sink);
            note("the shared secret's start", output);
            note("the shared secret's end", output + 16);
        }
        wipe(area, AREA);
        search("algorithm", number);
    }
    if (failures) fprintf(stderr, "%d calls failed\n", failures);
    return failures ? 2 : finds ? 1 : 0;
}
