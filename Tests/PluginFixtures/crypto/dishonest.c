/*
 * A plugin with the correct provider of provider.c, but for its ciphers: they copy what they are given, or with
 * TAKES_ANY_TAG compute rightly and open under any tag.
 *
 *     cc -std=c11 -shared -fPIC -I Sources/LocalDataAPI/CLocalData/include provider.c dishonest.c -lcrypto -lsodium
 */
#include "provider.h"

#ifdef TAKES_ANY_TAG
#define ID "trusting"

static ld_status open_sealed(
    void *self, ld_algorithm_id id, ld_bytes key, ld_bytes nonce, ld_bytes data, ld_bytes ciphertext, ld_bytes tag,
    void *plaintext, const ld_error_sink *error) {
    /* Both ciphers with a nonce of 12 bytes are their own inverse. */
    unsigned char ignored[16];
    (void)tag;
    return correct_provider.seal(self, id, key, nonce, data, ciphertext, plaintext, ignored, error);
}
#else
#define ID "copying"

static ld_status seal(
    void *self, ld_algorithm_id id, ld_bytes key, ld_bytes nonce, ld_bytes data, ld_bytes plaintext, void *ciphertext,
    void *tag, const ld_error_sink *error) {
    (void)self, (void)id, (void)key, (void)nonce, (void)data, (void)error;
    if (plaintext.count > 0) memcpy(ciphertext, plaintext.data, plaintext.count);
    memset(tag, 0, 16);
    return LD_OK;
}

static ld_status open_sealed(
    void *self, ld_algorithm_id id, ld_bytes key, ld_bytes nonce, ld_bytes data, ld_bytes ciphertext, ld_bytes tag,
    void *plaintext, const ld_error_sink *error) {
    (void)self, (void)id, (void)key, (void)nonce, (void)data, (void)tag, (void)error;
    if (ciphertext.count > 0) memcpy(plaintext, ciphertext.data, ciphertext.count);
    return LD_OK;
}
#endif

static ld_status open_provider(
    void *context, const ld_host *host, ld_bytes options, const void **table, const ld_error_sink *error) {
    static ld_crypto provider;
    (void)context, (void)host, (void)options, (void)error;
    provider = correct_provider;
    provider.open = open_sealed;
#ifndef TAKES_ANY_TAG
    provider.seal = seal;
#endif
    provider.extension = NULL;
    *table = &provider;
    return LD_OK;
}

static const ld_component component = {
    .size = sizeof component, .kind = LD_KIND_CRYPTO, .id = TEXT(ID), .summary = TEXT("does not do what it says"),
    .options = TEXT("[]"), .open = open_provider,
};
static const ld_component *const components[] = {&component};
static const ld_plugin plugin = {
    .size = sizeof plugin, .magic = LD_MAGIC, .abi_major = LD_ABI_MAJOR, .abi_minor = LD_ABI_MINOR,
    .name = TEXT("Dishonest"), .version = TEXT("1.0.0"), .components = components, .component_count = 1,
};

LD_EXPORT const void *localdata_plugin_v1(void) { return &plugin; }
