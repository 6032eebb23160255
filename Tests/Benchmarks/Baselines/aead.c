/*
 * Calls a crypto provider's table directly: aead LIBRARY COMPONENT
 *
 * Reads lines "seal CIPHER SIZE COUNT" and "open CIPHER SIZE COUNT" from standard input and answers each with the
 * nanoseconds of processor time of one call, from setting the key to the tag. CIPHER is a name of OpenSSL's. As with
 * `openssl speed` and swift-crypto beside it there is no additional data, and key, nonce and buffers are always the same;
 * the provider cannot know that, and does all of its work each time.
 */
#include "plugin.h"

static double processor_time(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static ld_algorithm_id algorithm(const char *name) {
    if (strcmp(name, "aes-256-gcm") == 0) return LD_AES_256_GCM;
    if (strcmp(name, "chacha20-poly1305") == 0) return LD_CHACHA20_POLY1305;
    fail("no such cipher");
}

int main(int argc, char **argv) {
    if (argc != 3) fail("usage: aead LIBRARY COMPONENT");
    const ld_crypto *crypto = open_component(argv[1], argv[2], "{}");
    unsigned char key_bytes[32], nonce_bytes[12], tag_bytes[16];
    memset(key_bytes, 7, sizeof(key_bytes));
    memset(nonce_bytes, 9, sizeof(nonce_bytes));
    const ld_bytes key = {key_bytes, sizeof(key_bytes)}, nonce = {nonce_bytes, sizeof(nonce_bytes)};
    const ld_bytes tag = {tag_bytes, sizeof(tag_bytes)}, nothing = {NULL, 0};
    char action[8], cipher[32];
    size_t size;
    long count;
    while (scanf("%7s %31s %zu %ld", action, cipher, &size, &count) == 4) {
        const ld_algorithm_id id = algorithm(cipher);
        unsigned char *value = malloc(size), *sealed = malloc(size), *opened = malloc(size);
        if (value == NULL || sealed == NULL || opened == NULL) fail("no memory");
        memset(value, 5, size);
        memset(opened, 0, size);
        const ld_bytes plaintext = {value, size}, ciphertext = {sealed, size};
        if (crypto->seal(crypto->self, id, key, nonce, nothing, plaintext, sealed, tag_bytes, &errors) != LD_OK) {
            fail("seal failed");
        }
        const int seals = strcmp(action, "seal") == 0;
        const double start = processor_time();
        for (long call = 0; call < count; call++) {
            const ld_status status = seals
                ? crypto->seal(crypto->self, id, key, nonce, nothing, plaintext, sealed, tag_bytes, &errors)
                : crypto->open(crypto->self, id, key, nonce, nothing, ciphertext, tag, opened, &errors);
            if (status != LD_OK) fail("the call failed");
        }
        const double end = processor_time();
        if (crypto->open(crypto->self, id, key, nonce, nothing, ciphertext, tag, opened, &errors) != LD_OK ||
            memcmp(value, opened, size) != 0) {
            fail("what was sealed did not open");
        }
        printf("%.1f\n", (end - start) / (double)count);
        fflush(stdout);
        free(value), free(sealed), free(opened);
    }
    return 0;
}
