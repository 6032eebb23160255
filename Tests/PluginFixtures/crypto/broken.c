/*
 * A plugin with the correct provider of provider.c, and one way at a time in which it is broken:
 *
 *     cc -std=c11 -shared -fPIC -I Sources/LocalDataAPI/CLocalData/include provider.c broken.c -lcrypto -lsodium
 *     ld-host plugins test libCrypto.so --component provider --options '{"breaks": "tag-bit"}'
 *
 * Without the option nothing is broken. A way that has to do with sizes is for one size that only one check uses.
 */
#define _GNU_SOURCE
#include "provider.h"

#include <openssl/evp.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

typedef struct provider {
    ld_crypto table;
    ld_crypto_signatures signatures;
    const ld_algorithm *list[16];
    ld_algorithm algorithms[16];
    char breaks[64];
    const ld_host_log *log;
    int calls;
    int poisoned;
} provider;

/* Whether the last event of any provider was that one was closed. */
static int is_shut_down;

static int is(const provider *self, const char *way) { return strcmp(self->breaks, way) == 0; }

/* The bytes with the lowest bit of the last one changed, in `copy`. */
static ld_bytes changed(ld_bytes bytes, unsigned char *copy) {
    memcpy(copy, bytes.data, bytes.count);
    copy[bytes.count - 1] ^= 1;
    return (ld_bytes){copy, bytes.count};
}

/* Lets other threads run, so that their calls fall between two steps. */
static void let_others_run(void) {
    for (int i = 0; i < 50; i++) sched_yield();
}

/* ------------------------------------------------------------------ ciphers ------------------------------------- */

/* Changes the inputs in the same way for seal and open, so that they still fit together. */
static void twist(
    const provider *self, ld_algorithm_id id, ld_bytes *key, ld_bytes *nonce, ld_bytes *data, size_t count,
    unsigned char copy[32]) {
    static const char *const ways[] = {"", "aes-gcm", "chacha", "xchacha"};
    if (id >= 1 && id <= 3 && is(self, ways[id]) && key->count == 32) *key = changed(*key, copy);
    if (is(self, "nonce-ignored") && count == 77 && nonce->count >= 12) {
        memcpy(copy, nonce->data, nonce->count);
        memset(copy, 0, 4);
        nonce->data = copy;
    }
    if (is(self, "data-cut") && data->count == 200) data->count = 128;
}

static ld_algorithm_id known(const provider *self, ld_algorithm_id id) {
    return is(self, "unknown-is-chacha") && (id < 1 || id > 3) ? LD_CHACHA20_POLY1305 : id;
}

static ld_status seal(
    void *context, ld_algorithm_id id, ld_bytes key, ld_bytes nonce, ld_bytes data, ld_bytes plaintext,
    void *ciphertext, void *tag, const ld_error_sink *error) {
    provider *self = context;
    unsigned char copy[64];
    if (is(self, "null-refused") && plaintext.data == NULL) return refuse(error, LD_ERROR_UNSUPPORTED, "no text");
    if (is(self, "shows-key") && key.count != 32 && error != NULL) {
        char text[256];
        snprintf(text, sizeof text, "the key '%.*s' is refused", (int)key.count, (const char *)key.data);
        return refuse(error, LD_ERROR_UNSUPPORTED, text);
    }
    if (is(self, "logs-text") && memmem(plaintext.data, plaintext.count, "wvzqkxjh", 8) != NULL && self->log != NULL) {
        self->log->log(self->log->context, 0, (ld_bytes)TEXT("crypto"), plaintext);
    }
    twist(self, id, &key, &nonce, &data, plaintext.count, copy);
    if (is(self, "nonce-cut") && id != LD_XCHACHA20_POLY1305 && nonce.count > 12) nonce.count = 12;
    ld_status status = correct_provider.seal(
        NULL, known(self, id), key, nonce, data, plaintext, ciphertext, tag, error);
    if (is(self, "forgets-last") && plaintext.count == 4097 && status == LD_OK) ((char *)ciphertext)[4096] ^= 1;
    if (is(self, "goes-wrong") && plaintext.count == 500 && self->poisoned == id) ((char *)tag)[0] ^= 1;
    if (is(self, "counts") && status == LD_OK && plaintext.count == 99) ((char *)tag)[0] ^= (char)++self->calls;
    if (is(self, "loud-success") && error != NULL && status == LD_OK) {
        error->report(error->context, LD_ERROR_UNKNOWN, (ld_bytes)TEXT("all is well"), (ld_bytes){0});
    }
    return status;
}

static ld_status open_sealed(
    void *context, ld_algorithm_id id, ld_bytes key, ld_bytes nonce, ld_bytes data, ld_bytes ciphertext, ld_bytes tag,
    void *plaintext, const ld_error_sink *error) {
    provider *self = context;
    unsigned char copy[64], other[16];
    size_t count = ciphertext.count;
    twist(self, id, &key, &nonce, &data, count, copy);
    if (is(self, "tag-cut") && tag.count > 16) tag.count = 16;
    if (is(self, "tag-bit") && tag.count == 16 &&
        correct_provider.open(NULL, id, key, nonce, data, ciphertext, changed(tag, other), plaintext, NULL) == LD_OK) {
        return LD_OK;
    }
    ld_status status = correct_provider.open(
        NULL, known(self, id), key, nonce, data, ciphertext, tag, plaintext, error);
    if (status != LD_FAILED || tag.count != 16) return status;
    if (is(self, "leaves-text") && count == 70000) memset(plaintext, 'x', count);
    if (is(self, "goes-wrong")) self->poisoned = id;
    return status;
}

/* Like open_sealed, but its report depends on the size. */
static ld_status open_and_tell_size(
    void *context, ld_algorithm_id id, ld_bytes key, ld_bytes nonce, ld_bytes data, ld_bytes ciphertext, ld_bytes tag,
    void *plaintext, const ld_error_sink *error) {
    provider *self = context;
    ld_status status = open_sealed(self, id, key, nonce, data, ciphertext, tag, plaintext, NULL);
    if (status != LD_FAILED) return status;
    int fits = key.count == 32 && tag.count == 16 && nonce.count == (id == LD_XCHACHA20_POLY1305 ? 24 : 12);
    if (!fits || id < 1 || id > 3) return refuse(error, LD_ERROR_UNSUPPORTED, "the call does not fit the cipher");
    return refuse(
        error, LD_ERROR_CANNOT_OPEN, ciphertext.count == 5000 ? "5000 bytes do not open" : "it does not open");
}

/* ------------------------------------------------------------------ derivations and random bytes ---------------- */

static ld_status derive(
    void *context, ld_algorithm_id id, const ld_derivation *given, void *output, size_t count,
    const ld_error_sink *error) {
    provider *self = context;
    ld_derivation with = *given;
    static unsigned char shared[64];
    if (is(self, "no-hkdf") && id == LD_HKDF_SHA256) return refuse(error, LD_ERROR_UNSUPPORTED, "there is no HKDF");
    if (is(self, "zero-is-one") && id == LD_PBKDF2_HMAC_SHA256 && with.iterations == 0) with.iterations = 1;
    if (is(self, "info-cut") && with.info.count > 128) with.info.count = 128;
    if (is(self, "any-size") && id == LD_HKDF_SHA256 && count > 8160) {
        ld_status status = correct_provider.derive(NULL, id, &with, output, 8160, error);
        memset((char *)output + 8160, 0, count - 8160);
        return status;
    }
    ld_status status = correct_provider.derive(NULL, id, &with, output, count, error);
    if (status != LD_OK) return status;
    if (is(self, "hkdf") && id == LD_HKDF_SHA256) ((unsigned char *)output)[0] ^= 1;
    if (is(self, "pbkdf2") && id == LD_PBKDF2_HMAC_SHA256) ((unsigned char *)output)[0] ^= 1;
    if (is(self, "hkdf-sha512") && id == LD_HKDF_SHA512) ((unsigned char *)output)[0] ^= 1;
    if (is(self, "pbkdf2-sha512") && id == LD_PBKDF2_HMAC_SHA512) ((unsigned char *)output)[0] ^= 1;
    if (is(self, "argon2id") && id == LD_ARGON2ID) ((unsigned char *)output)[0] ^= 1;
    if (is(self, "counts-keys") && count == 48) ((unsigned char *)output)[0] ^= (unsigned char)++self->calls;
    if (is(self, "terminates")) ((unsigned char *)output)[count] = 0;
    if (is(self, "shared-memory") && id == LD_HKDF_SHA256 && count == 32) {
        memcpy(shared, output, count);
        let_others_run();
        memcpy(output, shared, count);
    }
    return LD_OK;
}

/* A separate generator that is seeded once: from the system, or not at all. */
static uint64_t state[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t next(void) {
    uint64_t word = (state[0] += 0x9e3779b97f4a7c15u) ^ state[1];
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9u;
    word = (word ^ (word >> 27)) * 0x94d049bb133111ebu;
    return word ^ (word >> 31);
}

static ld_status random_bytes(void *context, void *output, size_t count, const ld_error_sink *error) {
    provider *self = context;
    unsigned char *bytes = output;
    if (is(self, "seeded-once")) {
        pthread_mutex_lock(&lock);
        if (state[1] == 0 && getrandom(state, sizeof state, 0) < 0) abort();
        for (size_t i = 0; i < count; i++) bytes[i] = (unsigned char)(next() >> 32);
        pthread_mutex_unlock(&lock);
        return LD_OK;
    }
    if (is(self, "global") && is_shut_down) return refuse(error, LD_ERROR_UNKNOWN, "the library was shut down");
    if (is(self, "fills-256") && count > 256 && count < 70000) count = 256;
    ld_status status = correct_provider.random(NULL, output, count, error);
    if (is(self, "few-seeds") && count == 16) {
        for (size_t i = 1; i < count; i++) bytes[i] = (unsigned char)(bytes[0] + i * 37);
    }
    if (is(self, "seven-bits") && count > 1000000) {
        for (size_t i = 0; i < count; i++) bytes[i] &= 0x7f;
    }
    return status;
}

/* ------------------------------------------------------------------ key agreement ------------------------------- */

static ld_status public_key(
    void *context, ld_algorithm_id id, ld_bytes private_key, void *public_key, const ld_error_sink *error) {
    provider *self = context;
    /* Keeps the last public key, and recognizes it by too few bytes. */
    static _Thread_local unsigned char kept[8 + 32];
    if (is(self, "keeps-by-part") && id == LD_X25519 && private_key.count == 32) {
        if (memcmp(kept, private_key.data, 8) != 0) {
            if (correct_provider.public_key(NULL, id, private_key, kept + 8, error) != LD_OK) return LD_FAILED;
            memcpy(kept, private_key.data, 8);
        }
        memcpy(public_key, kept + 8, 32);
        return LD_OK;
    }
    if (is(self, "key-cut") && private_key.count > 32) private_key.count = 32;
    return correct_provider.public_key(NULL, id, private_key, public_key, error);
}

static ld_status agree(
    void *context, ld_algorithm_id id, ld_bytes private_key, ld_bytes public_key, void *shared,
    const ld_error_sink *error) {
    provider *self = context;
    if (is(self, "zeros-agree") && id == LD_X25519 && private_key.count == 32 && public_key.count == 32 &&
        correct_provider.agree(NULL, id, private_key, public_key, shared, NULL) != LD_OK) {
        memset(shared, 0, 32);
        return LD_OK;
    }
    ld_status status = correct_provider.agree(NULL, id, private_key, public_key, shared, error);
    if (is(self, "x25519") && status == LD_OK) ((unsigned char *)shared)[0] ^= 1;
    return status;
}

/* ------------------------------------------------------------------ signatures ---------------------------------- */

static ld_status signing_public_key(
    void *context, ld_algorithm_id id, ld_bytes private_key, void *public_key, const ld_error_sink *error) {
    provider *self = context;
    static _Thread_local unsigned char kept[8 + 32];
    if (is(self, "keeps-signer") && id == LD_ED25519 && private_key.count == 32) {
        if (memcmp(kept, private_key.data, 8) != 0) {
            if (correct_signatures.public_key(NULL, id, private_key, kept + 8, error) != LD_OK) return LD_FAILED;
            memcpy(kept, private_key.data, 8);
        }
        memcpy(public_key, kept + 8, 32);
        return LD_OK;
    }
    if (is(self, "signing-key-cut") && private_key.count > 32) private_key.count = 32;
    return correct_signatures.public_key(NULL, id, private_key, public_key, error);
}

static ld_status sign(
    void *context, ld_algorithm_id id, ld_bytes private_key, ld_bytes message, void *signature,
    const ld_error_sink *error) {
    provider *self = context;
    if (is(self, "message-cut") && message.count > 4096) message.count = 4096;
    ld_status status = correct_signatures.sign(NULL, id, private_key, message, signature, error);
    if (is(self, "ed25519") && status == LD_OK && message.count == 2) ((unsigned char *)signature)[0] ^= 1;
    if (is(self, "counts-signatures") && message.count == 66) {
        ((unsigned char *)signature)[0] ^= (unsigned char)++self->calls;
    }
    return status;
}

/* Like OpenSSL: accepts points of small order. */
static int verifies_leniently(ld_bytes public_key, ld_bytes message, ld_bytes signature) {
    EVP_PKEY *key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, public_key.data, 32);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    int is_right = key != NULL && EVP_DigestVerifyInit(context, NULL, NULL, NULL, key) == 1 &&
                   EVP_DigestVerify(context, signature.data, 64, message.data, message.count) == 1;
    EVP_MD_CTX_free(context);
    EVP_PKEY_free(key);
    return is_right;
}

static ld_status verify(
    void *context, ld_algorithm_id id, ld_bytes public_key, ld_bytes message, ld_bytes signature,
    const ld_error_sink *error) {
    provider *self = context;
    if (is(self, "message-cut") && message.count > 4096) message.count = 4096;
    if (is(self, "signature-cut") && signature.count > 64) signature.count = 64;
    if (is(self, "lenient") && public_key.count == 32 && signature.count == 64 &&
        verifies_leniently(public_key, message, signature)) {
        return LD_OK;
    }
    ld_status status = correct_signatures.verify(NULL, id, public_key, message, signature, NULL);
    if (is(self, "tells-message") && status == LD_FAILED && signature.count == 64 && public_key.count == 32) {
        return refuse(error, LD_ERROR_CANNOT_OPEN, message.count > 100 ? "a long message" : "a short message");
    }
    return status == LD_OK ? status : correct_signatures.verify(NULL, id, public_key, message, signature, error);
}

/* ------------------------------------------------------------------ the table ----------------------------------- */

static const void *extension(void *context, ld_bytes id) {
    provider *self = context;
    if (is(self, "any-ability") && id.count < 20) return &self->signatures;
    return correct_provider.extension(NULL, id) != NULL && !is(self, "no-signatures") ? &self->signatures : NULL;
}

static void close_provider(void *context) {
    provider *self = context;
    is_shut_down = 1;
    free(self);
}

/* The value of "breaks"; it has no escapes. */
static void read_option(ld_bytes options, provider *self) {
    static const char mark[] = "\"breaks\":\"";
    const char *start = memmem(options.data, options.count, mark, sizeof mark - 1);
    if (start == NULL) return;
    start += sizeof mark - 1;
    size_t count = (size_t)((const char *)memchr(start, '"', options.count) - start);
    if (count < sizeof self->breaks) memcpy(self->breaks, start, count);
}

static ld_status open_provider(
    void *context, const ld_host *host, ld_bytes options, const void **table, const ld_error_sink *error) {
    (void)context;
    provider *self = calloc(1, sizeof *self);
    if (self == NULL) return refuse(error, LD_ERROR_UNKNOWN, "out of memory");
    read_option(options, self);
    if (is(self, "never-opens")) {
        free(self);
        return refuse(error, LD_ERROR_UNSUPPORTED, "this machine has no cipher");
    }
    is_shut_down = 0;
    self->log = host->extension(host->context, (ld_bytes)TEXT(LD_HOST_LOG));
    self->signatures = (ld_crypto_signatures){
        .size = sizeof self->signatures, .public_key = signing_public_key, .sign = sign, .verify = verify,
    };
    size_t count = 0;
    for (size_t i = 0; i < correct_provider.algorithm_count; i++) {
        ld_algorithm *algorithm = &self->algorithms[count];
        *algorithm = *correct_provider.algorithms[i];
        if (is(self, "no-hkdf") && algorithm->id == LD_HKDF_SHA256) continue;
        if (is(self, "no-limit") && algorithm->id == LD_HKDF_SHA256) algorithm->largest = 0;
        self->list[count++] = algorithm;
    }
    self->table = (ld_crypto){
        .size = sizeof self->table, .algorithms = self->list, .algorithm_count = count, .self = self, .seal = seal,
        .open = is(self, "tells-size") ? open_and_tell_size : open_sealed, .derive = derive, .random = random_bytes,
        .extension = extension, .close = close_provider, .public_key = public_key, .agree = agree,
    };
    *table = &self->table;
    return LD_OK;
}

#define BREAKS "{\"name\":\"breaks\",\"type\":\"string\",\"default\":\"\",\"help\":\"what is broken\"}"

static const ld_component provider_component = {
    .size = sizeof provider_component, .kind = LD_KIND_CRYPTO, .id = TEXT("provider"),
    .summary = TEXT("computes with OpenSSL and libsodium, for tests"), .options = TEXT("[" BREAKS "]"),
    .open = open_provider,
};
static const ld_component untidy_component = {
    .size = sizeof untidy_component, .kind = LD_KIND_CRYPTO, .id = TEXT("untidy"),
    .summary = TEXT("has one option twice"), .options = TEXT("[" BREAKS "," BREAKS "]"), .open = open_provider,
};
static const ld_component *const components[] = {&provider_component, &untidy_component};
static const ld_plugin plugin = {
    .size = sizeof plugin, .magic = LD_MAGIC, .abi_major = LD_ABI_MAJOR, .abi_minor = LD_ABI_MINOR,
    .name = TEXT("Crypto"), .version = TEXT("1.0.0"), .components = components, .component_count = 2,
};

LD_EXPORT const void *localdata_plugin_v1(void) { return &plugin; }
