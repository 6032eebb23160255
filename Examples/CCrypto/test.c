/* CCrypto's own test: uses the plugin as a host does, through the table that its entry returns. */
#include <localdata/plugin.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const void *localdata_plugin_v1(void);

#define CHECK(condition)                                                                  \
    do {                                                                                  \
        if (!(condition)) {                                                               \
            fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition);       \
            exit(1);                                                                      \
        }                                                                                 \
    } while (0)

static ld_bytes text(const char *string) { return (ld_bytes){string, strlen(string)}; }

/* Keeps the code of the last report. */
static void complain(void *context, ld_error_code code, ld_bytes message, ld_bytes hint) {
    (void)message, (void)hint;
    *(ld_error_code *)context = code;
}

static const void *no_service(void *context, ld_bytes id) {
    (void)context, (void)id;
    return NULL;
}

int main(void) {
    const ld_plugin *plugin = localdata_plugin_v1();
    CHECK(plugin->magic == LD_MAGIC && plugin->component_count == 1);
    const ld_component *component = plugin->components[0];
    ld_error_code code = 0;
    ld_error_sink error = {.size = sizeof(error), .context = &code, .report = complain};
    ld_host host = {.size = sizeof(host), .name = text("test"), .version = text("1"), .extension = no_service};
    const void *opened = NULL;
    CHECK(component->open(component->context, &host, text("{}"), &opened, &error) == LD_OK);
    const ld_crypto *crypto = opened;

    /* The sealed bytes open with the additional data that belongs to them, and with no other. */
    ld_bytes key = text("a key of exactly 32 bytes, no mo"), nonce = text("and 12 bytes");
    ld_bytes message = text("hello, world");
    unsigned char sealed[12], tag[16], plain[12];
    CHECK(
        crypto->seal(
            crypto->self, LD_CHACHA20_POLY1305, key, nonce, text("for Ada"), message, sealed, tag, &error) == LD_OK);
    CHECK(memcmp(sealed, message.data, 12) != 0);
    ld_bytes ciphertext = {sealed, 12}, mark = {tag, 16};
    CHECK(
        crypto->open(
            crypto->self, LD_CHACHA20_POLY1305, key, nonce, text("for Ada"), ciphertext, mark, plain, &error) == LD_OK);
    CHECK(memcmp(plain, message.data, 12) == 0 && code == 0);
    CHECK(
        crypto->open(
            crypto->self, LD_CHACHA20_POLY1305, key, nonce, text("for Bob"), ciphertext, mark, plain, &error) ==
        LD_FAILED);
    CHECK(code == LD_ERROR_CANNOT_OPEN && memcmp(plain, (char[12]){0}, 12) == 0);
    CHECK(
        crypto->seal(
            crypto->self, LD_AES_256_GCM, key, nonce, text(""), message, sealed, tag, &error) == LD_FAILED);
    CHECK(code == LD_ERROR_UNSUPPORTED);

    /* RFC 5869, test case 3: no salt, no info. */
    static const unsigned char expected[] = {
        0x8d, 0xa4, 0xe7, 0x75, 0xa5, 0x63, 0xc1, 0x8f, 0x71, 0x5f, 0x80, 0x2a, 0x06, 0x3c,
        0x5a, 0x31, 0xb8, 0xa1, 0x1f, 0x5c, 0x5e, 0xe1, 0x87, 0x9e, 0xc3, 0x45, 0x4e, 0x5f,
        0x3c, 0x73, 0x8d, 0x2d, 0x9d, 0x20, 0x13, 0x95, 0xfa, 0xa4, 0xb6, 0x1a, 0x96, 0xc8,
    };
    unsigned char derived[sizeof(expected)], secret[22];
    memset(secret, 0x0b, sizeof(secret));
    ld_derivation parameters = {.size = sizeof(parameters), .secret = {secret, sizeof(secret)}};
    CHECK(
        crypto->derive(crypto->self, LD_HKDF_SHA256, &parameters, derived, sizeof(derived), &error) == LD_OK &&
        memcmp(derived, expected, sizeof(expected)) == 0);

    unsigned char one[32] = {0}, other[32] = {0};
    CHECK(crypto->random(crypto->self, one, 32, &error) == LD_OK);
    CHECK(crypto->random(crypto->self, other, 32, &error) == LD_OK && memcmp(one, other, 32) != 0);
    puts("CCrypto: the test passed");
    return 0;
}
