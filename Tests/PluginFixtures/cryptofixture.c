/*
 * A crypto plugin in plain C whose table tests build in many variants, each of which breaks one rule of its form:
 *
 *     cc -std=c11 -shared -fPIC -I Sources/LocalDataAPI/CLocalData/include -DCRYPTO_... cryptofixture.c
 *
 * It is about the table only, so its functions refuse whatever they are asked, but for `random`, which counts.
 */
#include <localdata/plugin.h>

#include <string.h>

#ifndef COMPONENT_ID
#define COMPONENT_ID "fixture"
#endif
#define TEXT(literal) {literal, sizeof(literal) - 1}

static ld_status refuse(const ld_error_sink *error) {
    if (error != NULL) {
        error->report(error->context, LD_ERROR_UNSUPPORTED, (ld_bytes)TEXT("the fixture computes nothing"), (ld_bytes){0});
    }
    return LD_FAILED;
}

static ld_status seal(
    void *self, ld_algorithm_id id, ld_bytes key, ld_bytes nonce, ld_bytes data, ld_bytes plaintext, void *ciphertext,
    void *tag, const ld_error_sink *error) {
    (void)self, (void)id, (void)key, (void)nonce, (void)data, (void)plaintext, (void)ciphertext, (void)tag;
#ifdef CRYPTO_STATUS
    (void)error, (void)refuse;
    return CRYPTO_STATUS;
#else
    return refuse(error);
#endif
}

static ld_status open_sealed(
    void *self, ld_algorithm_id id, ld_bytes key, ld_bytes nonce, ld_bytes data, ld_bytes ciphertext, ld_bytes tag,
    void *plaintext, const ld_error_sink *error) {
    (void)self, (void)id, (void)key, (void)nonce, (void)data, (void)ciphertext, (void)tag, (void)plaintext;
    return refuse(error);
}

static ld_status derive(
    void *self, ld_algorithm_id id, const ld_derivation *parameters, void *output, size_t count,
    const ld_error_sink *error) {
    (void)self, (void)id, (void)parameters, (void)output, (void)count;
    return refuse(error);
}

static ld_status count_up(void *self, void *output, size_t count, const ld_error_sink *error) {
    (void)self, (void)error;
    for (size_t i = 0; i < count; i++) ((unsigned char *)output)[i] = (unsigned char)(i + 1);
    return LD_OK;
}

static ld_status public_key(
    void *self, ld_algorithm_id id, ld_bytes private_key, void *public_key, const ld_error_sink *error) {
    (void)self, (void)id, (void)private_key, (void)public_key;
    return refuse(error);
}

static ld_status agree(
    void *self, ld_algorithm_id id, ld_bytes private_key, ld_bytes public_key, void *shared,
    const ld_error_sink *error) {
    (void)self, (void)id, (void)private_key, (void)public_key, (void)shared;
    return refuse(error);
}

/* ------------------------------------------------------------------ what is declared ---------------------------- */

#ifndef CRYPTO_KEY_SIZE
#define CRYPTO_KEY_SIZE 32
#endif
#ifndef CRYPTO_NONCE_SIZE
#define CRYPTO_NONCE_SIZE 12
#endif
#ifndef CRYPTO_TAG_SIZE
#define CRYPTO_TAG_SIZE 16
#endif

static const ld_algorithm cipher = {
#ifdef CRYPTO_SHORT_ALGORITHM
    .size = 12,
#elif defined CRYPTO_LYING_ALGORITHM
    .size = 0xfffffff0u,
#else
    .size = sizeof cipher,
#endif
    .id = LD_CHACHA20_POLY1305, .key_size = CRYPTO_KEY_SIZE, .nonce_size = CRYPTO_NONCE_SIZE,
    .tag_size = CRYPTO_TAG_SIZE,
};
static const ld_algorithm derivation = {.size = sizeof derivation, .id = LD_HKDF_SHA256, .largest = 8160};
static const ld_algorithm later = {.size = sizeof later, .id = 77, .key_size = 5};
static const ld_algorithm agreement = {.size = sizeof agreement, .id = LD_X25519, .key_size = 32};

static const ld_algorithm *const algorithms[80] = {
    &cipher, &derivation, &later, &agreement,
#ifdef CRYPTO_TWICE
    &cipher,
#endif
#ifdef CRYPTO_NULL_ALGORITHM
    NULL,
#endif
};

#ifndef CRYPTO_COUNT
#if defined CRYPTO_TWICE || defined CRYPTO_NULL_ALGORITHM
#define CRYPTO_COUNT 5
#else
#define CRYPTO_COUNT 4
#endif
#endif

/* ------------------------------------------------------------------ abilities that break a rule ----------------- */

#ifdef CRYPTO_NULL_ABILITY
/* Tables without functions, of the right size or a smaller one, for every ability. */
static const struct {
    uint32_t size;
    void *functions[8];
} null_ability = {.size = CRYPTO_NULL_ABILITY};

static const void *extension(void *self, ld_bytes id) {
    (void)self, (void)id;
    return &null_ability;
}
#endif

/* ------------------------------------------------------------------ tables, larger than the host's ----------------- */

#ifdef CRYPTO_NEWER
/* A later revision: it has further members at the end, which this host does not know. */
#define LATER void *later[4];
#define LATER_VALUE .later = {(void *)16, (void *)16, (void *)16, (void *)16},
#else
#define LATER
#define LATER_VALUE
#endif

static const struct {
    ld_crypto table;
    LATER
} provider = {
    .table = {
#ifdef CRYPTO_SHORT
        .size = 16,
#elif defined CRYPTO_LYING
        .size = 0xfffffff0u,
#elif defined CRYPTO_SMALLER
        .size = ld_crypto_least_size - sizeof(void *),
#else
        .size = sizeof provider,
#endif
#ifndef CRYPTO_NO_ALGORITHMS
        .algorithms = algorithms,
#endif
        .algorithm_count = CRYPTO_COUNT,
#ifndef CRYPTO_NO_SEAL
        .seal = seal,
#endif
#ifndef CRYPTO_NO_OPEN
        .open = open_sealed,
#endif
#ifndef CRYPTO_NO_DERIVE
        .derive = derive,
#endif
#ifndef CRYPTO_NO_RANDOM
        .random = count_up,
#endif
#ifdef CRYPTO_NULL_ABILITY
        .extension = extension,
#endif
#ifndef CRYPTO_NO_PUBLIC_KEY
        .public_key = public_key,
#endif
#ifndef CRYPTO_NO_AGREE
        .agree = agree,
#endif
    },
    LATER_VALUE
};

static ld_status open_provider(
    void *context, const ld_host *host, ld_bytes options, const void **table, const ld_error_sink *error) {
    (void)context, (void)host, (void)options, (void)error, (void)public_key, (void)agree;
#ifdef CRYPTO_OPEN_FAILS
    return refuse(error);
#elif defined CRYPTO_OPEN_NULL
    *table = NULL;
#elif defined CRYPTO_MISALIGNED
    *table = (const char *)&provider + 1;
#else
    *table = &provider;
#endif
    return LD_OK;
}

static const ld_component component = {
    .size = sizeof component,
#ifdef CRYPTO_IS_A_STORE
    .kind = LD_KIND_STORAGE,
#else
    .kind = LD_KIND_CRYPTO,
#endif
    .id = TEXT(COMPONENT_ID), .summary = TEXT("a crypto provider for tests"), .options = TEXT("[]"),
    .open = open_provider,
};
static const ld_component *const components[] = {&component};
static const ld_plugin plugin = {
    .size = sizeof plugin, .magic = LD_MAGIC, .abi_major = LD_ABI_MAJOR, .abi_minor = LD_ABI_MINOR,
    .name = TEXT("CryptoFixture"), .version = TEXT("1.0.0"), .components = components, .component_count = 1,
};

LD_EXPORT const void *localdata_plugin_v1(void);
const void *localdata_plugin_v1(void) { return &plugin; }
