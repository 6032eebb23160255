#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/params.h>
#include <openssl/provider.h>
#include <openssl/rand.h>
#include <openssl/crypto.h>
#include <openssl/err.h>

/* The Poly1305 of OpenSSL 3.0 for AVX-512 returns with the upper halves of the vector registers in use. Until they are
 * cleared, each SSE instruction waits for them: 0.3 us of what sealing 64 bytes takes. Clearing them is what the x86-64
 * calling convention asks of such a function, and changes nothing that a caller may rely on. */
#if defined(__x86_64__)
__attribute__((target("avx"))) static inline void clear_upper_halves(void) { __builtin_ia32_vzeroupper(); }
static inline int has_upper_halves(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx") != 0;
}
#else
static inline void clear_upper_halves(void) {}
static inline int has_upper_halves(void) { return 0; }
#endif

/* Overwrites the stack below the caller, where functions that returned may have left secrets: OpenSSL's X25519 leaves
 * what it computed, and its ChaCha20 for AVX-512 the key. */
__attribute__((noinline)) static void clear_stack_below(void) {
    unsigned char used[8192];
    OPENSSL_cleanse(used, sizeof used);
}
