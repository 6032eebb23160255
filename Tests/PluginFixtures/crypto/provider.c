/*
 * A correct crypto provider in plain C with every algorithm that the header knows: OpenSSL computes, and libsodium what
 * OpenSSL 3.0 lacks (XChaCha20-Poly1305 and Argon2id) or makes harder (HMAC). broken.c breaks it in one way at a time.
 */
#include "provider.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <sodium.h>
#include <stdlib.h>

ld_status refuse(const ld_error_sink *error, ld_error_code code, const char *message) {
    if (error != NULL) error->report(error->context, code, (ld_bytes){message, strlen(message)}, (ld_bytes){NULL, 0});
    return LD_FAILED;
}

static ld_status unsupported(const ld_error_sink *error, const char *message) {
    return refuse(error, LD_ERROR_UNSUPPORTED, message);
}

static ld_status failed(const ld_error_sink *error) {
    return refuse(error, LD_ERROR_UNKNOWN, "the library cannot compute this");
}

/* The bytes, at a readable address even if there are none. */
static const unsigned char *at(ld_bytes bytes) { return bytes.count > 0 ? bytes.data : (const unsigned char *)""; }

/* ------------------------------------------------------------------ ciphers ------------------------------------- */

static size_t nonce_size(ld_algorithm_id algorithm) { return algorithm == LD_XCHACHA20_POLY1305 ? 24 : 12; }

static const EVP_CIPHER *evp(ld_algorithm_id algorithm) {
    return algorithm == LD_AES_256_GCM ? EVP_aes_256_gcm() : EVP_chacha20_poly1305();
}

/* Whether algorithm, key and nonce fit; reports what does not. */
static int fits(ld_algorithm_id algorithm, ld_bytes key, ld_bytes nonce, const ld_error_sink *error) {
    if (algorithm < LD_AES_256_GCM || algorithm > LD_XCHACHA20_POLY1305) {
        unsupported(error, "there is no such cipher");
        return 0;
    }
    if (key.count != 32 || nonce.count != nonce_size(algorithm)) {
        unsupported(error, "the key or the nonce has a wrong size");
        return 0;
    }
    return 1;
}

/* A context that has taken key, nonce and data; NULL if it cannot be made. */
static EVP_CIPHER_CTX *begun(ld_algorithm_id algorithm, int seals, ld_bytes key, ld_bytes nonce, ld_bytes data) {
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    int count;
    if (context != NULL && EVP_CipherInit_ex(context, evp(algorithm), NULL, key.data, nonce.data, seals) == 1 &&
        (data.count == 0 || EVP_CipherUpdate(context, NULL, &count, data.data, (int)data.count) == 1)) {
        return context;
    }
    EVP_CIPHER_CTX_free(context);
    return NULL;
}

static ld_status seal(
    void *self, ld_algorithm_id algorithm, ld_bytes key, ld_bytes nonce, ld_bytes data, ld_bytes plaintext,
    void *ciphertext, void *tag, const ld_error_sink *error) {
    (void)self;
    if (!fits(algorithm, key, nonce, error)) return LD_FAILED;
    if (algorithm == LD_XCHACHA20_POLY1305) {
        unsigned char nothing;
        crypto_aead_xchacha20poly1305_ietf_encrypt_detached(
            plaintext.count > 0 ? ciphertext : &nothing, tag, NULL, at(plaintext), plaintext.count, at(data),
            data.count, NULL, nonce.data, key.data);
        return LD_OK;
    }
    EVP_CIPHER_CTX *context = begun(algorithm, 1, key, nonce, data);
    unsigned char rest[16];
    int count;
    int done = context != NULL &&
               (plaintext.count == 0 ||
                EVP_CipherUpdate(context, ciphertext, &count, plaintext.data, (int)plaintext.count) == 1) &&
               EVP_CipherFinal_ex(context, rest, &count) == 1 &&
               EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, tag) == 1;
    EVP_CIPHER_CTX_free(context);
    return done ? LD_OK : failed(error);
}

static ld_status open_sealed(
    void *self, ld_algorithm_id algorithm, ld_bytes key, ld_bytes nonce, ld_bytes data, ld_bytes ciphertext,
    ld_bytes tag, void *plaintext, const ld_error_sink *error) {
    (void)self;
    if (!fits(algorithm, key, nonce, error)) return LD_FAILED;
    if (tag.count != 16) return unsupported(error, "the tag has a wrong size");
    int opens;
    if (algorithm == LD_XCHACHA20_POLY1305) {
        unsigned char nothing;
        opens = crypto_aead_xchacha20poly1305_ietf_decrypt_detached(
                    ciphertext.count > 0 ? plaintext : &nothing, NULL, at(ciphertext), ciphertext.count, tag.data,
                    at(data), data.count, nonce.data, key.data) == 0;
    } else {
        EVP_CIPHER_CTX *context = begun(algorithm, 0, key, nonce, data);
        unsigned char rest[16];
        int count;
        opens = context != NULL &&
                (ciphertext.count == 0 ||
                 EVP_CipherUpdate(context, plaintext, &count, ciphertext.data, (int)ciphertext.count) == 1) &&
                EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, 16, (void *)tag.data) == 1 &&
                EVP_CipherFinal_ex(context, rest, &count) == 1;
        EVP_CIPHER_CTX_free(context);
    }
    if (opens) return LD_OK;
    if (ciphertext.count > 0) OPENSSL_cleanse(plaintext, ciphertext.count);
    return refuse(error, LD_ERROR_CANNOT_OPEN, "the tag does not fit what was sealed");
}

/* ------------------------------------------------------------------ derivations and random bytes ---------------- */

/* HKDF over one of libsodium's HMACs, whose codes have `size` bytes. */
#define HKDF(name, hmac, size)                                                                          \
    static void name(const ld_derivation *with, unsigned char *output, size_t count) {                 \
        hmac##_state state;                                                                             \
        unsigned char key[size], block[size];                                                           \
        hmac##_init(&state, at(with->salt), with->salt.count);                                          \
        hmac##_update(&state, at(with->secret), with->secret.count);                                    \
        hmac##_final(&state, key);                                                                      \
        for (size_t made = 0; made < count; made += size) {                                             \
            unsigned char number = (unsigned char)(made / size + 1);                                    \
            hmac##_init(&state, key, sizeof key);                                                       \
            if (made > 0) hmac##_update(&state, block, sizeof block);                                   \
            hmac##_update(&state, at(with->info), with->info.count);                                    \
            hmac##_update(&state, &number, 1);                                                          \
            hmac##_final(&state, block);                                                                \
            memcpy(output + made, block, count - made < size ? count - made : size);                    \
        }                                                                                               \
        sodium_memzero(&state, sizeof state);                                                           \
        sodium_memzero(key, sizeof key);                                                                \
        sodium_memzero(block, sizeof block);                                                            \
    }
HKDF(hkdf_sha256, crypto_auth_hmacsha256, 32)
HKDF(hkdf_sha512, crypto_auth_hmacsha512, 64)

static ld_status derive(
    void *self, ld_algorithm_id algorithm, const ld_derivation *with, void *output, size_t count,
    const ld_error_sink *error) {
    (void)self;
    if (algorithm < LD_HKDF_SHA256 || algorithm > LD_PBKDF2_HMAC_SHA512) {
        return unsupported(error, "there is no such derivation");
    }
    if (count == 0) return unsupported(error, "a key has at least one byte");
    if (algorithm == LD_HKDF_SHA256) {
        if (count > 8160) return unsupported(error, "HKDF-SHA256 derives at most 8160 bytes");
        hkdf_sha256(with, output, count);
        return LD_OK;
    }
    if (algorithm == LD_HKDF_SHA512) {
        if (count > 16320) return unsupported(error, "HKDF-SHA512 derives at most 16320 bytes");
        hkdf_sha512(with, output, count);
        return LD_OK;
    }
    if (with->iterations == 0) return unsupported(error, "at least one iteration is needed");
    if (algorithm == LD_PBKDF2_HMAC_SHA256 || algorithm == LD_PBKDF2_HMAC_SHA512) {
        int done = PKCS5_PBKDF2_HMAC(
            (const char *)at(with->secret), (int)with->secret.count, at(with->salt), (int)with->salt.count,
            (int)with->iterations, algorithm == LD_PBKDF2_HMAC_SHA256 ? EVP_sha256() : EVP_sha512(), (int)count, output);
        return done == 1 ? LD_OK : failed(error);
    }
    if (with->salt.count != 16 || with->lanes != 1 || count < 16) {
        return unsupported(error, "Argon2id takes a salt of 16 bytes and one lane, and derives at least 16 bytes");
    }
    int result = crypto_pwhash(
        output, count, (const char *)at(with->secret), with->secret.count, with->salt.data, with->iterations,
        with->memory, crypto_pwhash_ALG_ARGON2ID13);
    return result == 0 ? LD_OK : unsupported(error, "Argon2id does not take these parameters");
}

static ld_status random_bytes(void *self, void *output, size_t count, const ld_error_sink *error) {
    (void)self;
    if (count == 0) return LD_OK;
    return RAND_bytes(output, (int)count) == 1 ? LD_OK : failed(error);
}

/* ------------------------------------------------------------------ key agreement ------------------------------- */

static ld_status public_key(
    void *self, ld_algorithm_id algorithm, ld_bytes private_key, void *public_key, const ld_error_sink *error) {
    (void)self;
    if (algorithm != LD_X25519) return unsupported(error, "there is no such key agreement");
    if (private_key.count != 32) return unsupported(error, "the key has a wrong size");
    size_t count = 32;
    EVP_PKEY *key = EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, NULL, private_key.data, 32);
    int done = key != NULL && EVP_PKEY_get_raw_public_key(key, public_key, &count) == 1;
    EVP_PKEY_free(key);
    return done ? LD_OK : failed(error);
}

static ld_status agree(
    void *self, ld_algorithm_id algorithm, ld_bytes private_key, ld_bytes public_key, void *shared,
    const ld_error_sink *error) {
    (void)self;
    if (algorithm != LD_X25519) return unsupported(error, "there is no such key agreement");
    if (private_key.count != 32 || public_key.count != 32) return unsupported(error, "a key has a wrong size");
    EVP_PKEY *own = EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, NULL, private_key.data, 32);
    EVP_PKEY *other = EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, NULL, public_key.data, 32);
    EVP_PKEY_CTX *context = own != NULL ? EVP_PKEY_CTX_new(own, NULL) : NULL;
    size_t count = 32;
    int ready = context != NULL && other != NULL && EVP_PKEY_derive_init(context) == 1 &&
                EVP_PKEY_derive_set_peer(context, other) == 1;
    /* With inputs of these sizes, only a secret of zeros makes this fail. */
    int done = ready && EVP_PKEY_derive(context, shared, &count) == 1;
    EVP_PKEY_CTX_free(context);
    EVP_PKEY_free(other);
    EVP_PKEY_free(own);
    if (done) return LD_OK;
    memset(shared, 0, 32);
    return ready ? refuse(error, LD_ERROR_SECURITY, "the public key has a small order") : failed(error);
}

/* ------------------------------------------------------------------ signatures ---------------------------------- */

static ld_status signing_public_key(
    void *self, ld_algorithm_id algorithm, ld_bytes private_key, void *public_key, const ld_error_sink *error) {
    (void)self;
    unsigned char pair[64];
    if (algorithm != LD_ED25519) return unsupported(error, "there is no such signature");
    if (private_key.count != 32) return unsupported(error, "the key has a wrong size");
    crypto_sign_ed25519_seed_keypair(public_key, pair, private_key.data);
    sodium_memzero(pair, sizeof pair);
    return LD_OK;
}

static ld_status sign(
    void *self, ld_algorithm_id algorithm, ld_bytes private_key, ld_bytes message, void *signature,
    const ld_error_sink *error) {
    (void)self;
    unsigned char public_key[32], pair[64];
    if (algorithm != LD_ED25519) return unsupported(error, "there is no such signature");
    if (private_key.count != 32) return unsupported(error, "the key has a wrong size");
    crypto_sign_ed25519_seed_keypair(public_key, pair, private_key.data);
    crypto_sign_ed25519_detached(signature, NULL, at(message), message.count, pair);
    sodium_memzero(pair, sizeof pair);
    return LD_OK;
}

static ld_status verify(
    void *self, ld_algorithm_id algorithm, ld_bytes public_key, ld_bytes message, ld_bytes signature,
    const ld_error_sink *error) {
    (void)self;
    if (algorithm != LD_ED25519) return unsupported(error, "there is no such signature");
    if (public_key.count != 32 || signature.count != 64) return unsupported(error, "key or signature has a wrong size");
    if (crypto_sign_ed25519_verify_detached(signature.data, at(message), message.count, public_key.data) == 0) {
        return LD_OK;
    }
    return refuse(error, LD_ERROR_CANNOT_OPEN, "the signature is wrong");
}

const ld_crypto_signatures correct_signatures = {
    .size = sizeof correct_signatures, .public_key = signing_public_key, .sign = sign, .verify = verify,
};

static int is(ld_bytes id, const char *name) {
    return id.count == strlen(name) && memcmp(id.data, name, id.count) == 0;
}

static const void *extension(void *self, ld_bytes id) {
    (void)self;
    return is(id, LD_CRYPTO_SIGNATURES) ? &correct_signatures : NULL;
}

#define CIPHER(number, nonce)                                                                            \
    &(const ld_algorithm) {                                                                              \
        .size = sizeof(ld_algorithm), .id = number, .key_size = 32, .nonce_size = nonce, .tag_size = 16, \
        .largest = 1u << 30                                                                              \
    }
#define OTHER(number, key, most) \
    &(const ld_algorithm) { .size = sizeof(ld_algorithm), .id = number, .key_size = key, .largest = most }

/* OpenSSL takes the size of a piece as an int, so the limit is lower than a standard's. */
static const ld_algorithm *const algorithms[] = {
    CIPHER(LD_AES_256_GCM, 12), CIPHER(LD_CHACHA20_POLY1305, 12), CIPHER(LD_XCHACHA20_POLY1305, 24),
    OTHER(LD_HKDF_SHA256, 0, 8160), OTHER(LD_PBKDF2_HMAC_SHA256, 0, 1u << 30), OTHER(LD_ARGON2ID, 0, 1u << 30),
    OTHER(LD_HKDF_SHA512, 0, 16320), OTHER(LD_PBKDF2_HMAC_SHA512, 0, 1u << 30),
    OTHER(LD_X25519, 32, 0), OTHER(LD_ED25519, 32, 0),
};

const ld_crypto correct_provider = {
    .size = sizeof correct_provider, .algorithms = algorithms,
    .algorithm_count = sizeof algorithms / sizeof algorithms[0], .seal = seal, .open = open_sealed, .derive = derive,
    .random = random_bytes, .extension = extension, .public_key = public_key, .agree = agree,
};
