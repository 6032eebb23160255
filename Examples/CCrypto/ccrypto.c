/*
 * CCrypto, a crypto plugin in C: ChaCha20-Poly1305, HKDF-SHA256 and random bytes, computed by libsodium.
 *
 * A provider only computes: formats, nonces and keys are the host's business. This one keeps nothing between calls, so
 * any number of threads may use it at once. localdata/plugin.h says what each function owes to its caller.
 */
#include <localdata/plugin.h>

#include <sodium.h>
#include <string.h>

/* ---------------------------------------------------------------- small parts ------------------------------------ */

static ld_bytes text(const char *string) { return (ld_bytes){string, strlen(string)}; }

/* Reports a failure, once. Neither keys nor plaintext appear in messages. */
static ld_status fail(const ld_error_sink *error, ld_error_code code, const char *message, const char *hint) {
    if (error != NULL) error->report(error->context, code, text(message), text(hint));
    return LD_FAILED;
}

/* The bytes, or a readable address if there are none: an empty ld_bytes may have any address. */
static const unsigned char *at(ld_bytes bytes) { return bytes.count > 0 ? bytes.data : (const unsigned char *)""; }

/* ---------------------------------------------------------------- the cipher ------------------------------------- */

/* Whether the provider offers the algorithm, and key and nonce have its sizes: nothing is padded or cut. */
static ld_status check(ld_algorithm_id algorithm, ld_bytes key, ld_bytes nonce, const ld_error_sink *error) {
    if (algorithm != LD_CHACHA20_POLY1305) {
        return fail(error, LD_ERROR_UNSUPPORTED, "CCrypto has no such cipher", "ask for ChaCha20-Poly1305");
    }
    if (key.count != crypto_aead_chacha20poly1305_ietf_KEYBYTES ||
        nonce.count != crypto_aead_chacha20poly1305_ietf_NPUBBYTES) {
        return fail(
            error, LD_ERROR_UNSUPPORTED, "ChaCha20-Poly1305 takes a key of 32 bytes and a nonce of 12", "");
    }
    return LD_OK;
}

static ld_status seal(
    void *self, ld_algorithm_id algorithm, ld_bytes key, ld_bytes nonce, ld_bytes data, ld_bytes plaintext,
    void *ciphertext, void *tag, const ld_error_sink *error) {
    (void)self;
    if (check(algorithm, key, nonce, error) != LD_OK) return LD_FAILED;
    unsigned char nothing;
    crypto_aead_chacha20poly1305_ietf_encrypt_detached(
        plaintext.count > 0 ? ciphertext : &nothing, tag, NULL, at(plaintext), plaintext.count, at(data), data.count,
        NULL, nonce.data, key.data);
    return LD_OK;
}

/* libsodium compares tags in constant time, decrypts only what is authentic, and leaves zeros where it is not. */
static ld_status open_sealed(
    void *self, ld_algorithm_id algorithm, ld_bytes key, ld_bytes nonce, ld_bytes data, ld_bytes ciphertext,
    ld_bytes tag, void *plaintext, const ld_error_sink *error) {
    (void)self;
    if (check(algorithm, key, nonce, error) != LD_OK) return LD_FAILED;
    if (tag.count != crypto_aead_chacha20poly1305_ietf_ABYTES) {
        return fail(error, LD_ERROR_UNSUPPORTED, "ChaCha20-Poly1305 has tags of 16 bytes", "");
    }
    unsigned char nothing;
    int result = crypto_aead_chacha20poly1305_ietf_decrypt_detached(
        ciphertext.count > 0 ? plaintext : &nothing, NULL, at(ciphertext), ciphertext.count, tag.data, at(data),
        data.count, nonce.data, key.data);
    if (result == 0) return LD_OK;
    return fail(error, LD_ERROR_CANNOT_OPEN, "the tag does not fit the ciphertext", "");
}

/* ---------------------------------------------------------------- keys and random bytes -------------------------- */

/* RFC 5869 over libsodium's HMAC-SHA256: extract, then expand block by block. */
static ld_status derive(
    void *self, ld_algorithm_id algorithm, const ld_derivation *parameters, void *output, size_t count,
    const ld_error_sink *error) {
    (void)self;
    if (algorithm != LD_HKDF_SHA256) {
        return fail(error, LD_ERROR_UNSUPPORTED, "CCrypto has no such derivation", "ask for HKDF-SHA256");
    }
    if (count == 0 || count > 255 * 32) {
        return fail(error, LD_ERROR_UNSUPPORTED, "HKDF-SHA256 derives 1 to 8160 bytes", "");
    }
    crypto_auth_hmacsha256_state state;
    unsigned char key[32], block[32];
    crypto_auth_hmacsha256_init(&state, at(parameters->salt), parameters->salt.count);
    crypto_auth_hmacsha256_update(&state, at(parameters->secret), parameters->secret.count);
    crypto_auth_hmacsha256_final(&state, key);
    unsigned char number = 1;
    for (size_t made = 0; made < count; made += sizeof(block), number++) {
        crypto_auth_hmacsha256_init(&state, key, sizeof(key));
        if (made > 0) crypto_auth_hmacsha256_update(&state, block, sizeof(block));
        crypto_auth_hmacsha256_update(&state, at(parameters->info), parameters->info.count);
        crypto_auth_hmacsha256_update(&state, &number, 1);
        crypto_auth_hmacsha256_final(&state, block);
        memcpy((char *)output + made, block, count - made < sizeof(block) ? count - made : sizeof(block));
    }
    sodium_memzero(&state, sizeof(state));
    sodium_memzero(key, sizeof(key));
    sodium_memzero(block, sizeof(block));
    return LD_OK;
}

/* libsodium asks the system each time, so a process and its copy by fork(2) draw different bytes. */
static ld_status random_bytes(void *self, void *output, size_t count, const ld_error_sink *error) {
    (void)self, (void)error;
    if (count > 0) randombytes_buf(output, count);
    return LD_OK;
}

/* ---------------------------------------------------------------- the plugin ------------------------------------- */

static const ld_algorithm cipher = {
    .size = sizeof(cipher), .id = LD_CHACHA20_POLY1305, .key_size = 32, .nonce_size = 12, .tag_size = 16,
    .largest = ((uint64_t)1 << 38) - 64,
};
static const ld_algorithm derivation = {.size = sizeof(derivation), .id = LD_HKDF_SHA256, .largest = 255 * 32};
static const ld_algorithm *const algorithms[] = {&cipher, &derivation};

/* Optional functions that this provider lacks - abilities, key agreement, a finalizer - stay NULL. */
static const ld_crypto provider = {
    .size = sizeof(provider), .algorithms = algorithms, .algorithm_count = 2, .seal = seal, .open = open_sealed,
    .derive = derive, .random = random_bytes,
};

static ld_status open_provider(
    void *context, const ld_host *host, ld_bytes options, const void **table, const ld_error_sink *error) {
    (void)context, (void)host, (void)options;
    /* 0 the first time, 1 after that, from any thread. */
    if (sodium_init() < 0) {
        return fail(error, LD_ERROR_UNSUPPORTED, "libsodium finds no source of random bytes on this machine", "");
    }
    *table = &provider;
    return LD_OK;
}

#define TEXT(literal) {literal, sizeof(literal) - 1}

static const ld_component component = {
    .size = sizeof(component), .kind = LD_KIND_CRYPTO, .id = TEXT("c-crypto"), .summary = TEXT("computes with libsodium"),
    .options = TEXT("[]"), .open = open_provider,
};
static const ld_component *const components[] = {&component};
static const ld_plugin plugin = {
    .size = sizeof(plugin), .magic = LD_MAGIC, .abi_major = LD_ABI_MAJOR, .abi_minor = LD_ABI_MINOR,
    .name = TEXT("CCrypto"), .version = TEXT("0.1.0"), .components = components, .component_count = 1,
};

LD_EXPORT const void *localdata_plugin_v1(void);
const void *localdata_plugin_v1(void) { return &plugin; }
