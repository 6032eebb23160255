internal import COpenSSL

/// One of OpenSSL's ciphers, through the functions that its provider exports to libcrypto (provider-cipher(7)).
///
/// The functions of `EVP_CIPHER_CTX` in front of them query the provider for sizes that are known here, which takes
/// more than a tenth of sealing 16 KiB.
struct ProvidedCipher: @unchecked Sendable {
    // The provider stays loaded, since objects fetched from it are never freed.
    let provider: UnsafeMutableRawPointer?
    let create: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?
    /// Overwrites and frees a context.
    let release: @convention(c) (UnsafeMutableRawPointer?) -> Void
    let beginSealing: Begin
    let beginOpening: Begin
    let update:
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<Int>?, Int,
            UnsafePointer<UInt8>?, Int
        ) -> Int32
    let finish:
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<Int>?, Int
        ) -> Int32
    let get: @convention(c) (UnsafeMutableRawPointer?, UnsafeMutablePointer<OSSL_PARAM>?) -> Int32
    let set: @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<OSSL_PARAM>?) -> Int32

    private let usesVectors: Bool
    /// Whether the cipher leaves its key on the stack, as the ChaCha20 of OpenSSL 3.0 for AVX-512 does.
    private let leavesKey: Bool

    /// Clears the upper halves of the vector registers after a call.
    @inline(__always)
    func clearVectors() { if usesVectors { clear_upper_halves() } }

    /// Overwrites the remains of calls on the stack.
    @inline(__always)
    func clearStack() { if leavesKey { clear_stack_below() } }

    typealias Begin =
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafePointer<UInt8>?, Int, UnsafePointer<UInt8>?, Int, UnsafePointer<OSSL_PARAM>?
        ) -> Int32

    /// AES-256-GCM; `nil` if OpenSSL does not offer it.
    static let aes256GCM = ProvidedCipher("AES-256-GCM", leavesKey: false)
    /// ChaCha20-Poly1305; `nil` if OpenSSL does not offer it.
    static let chaCha20Poly1305 = ProvidedCipher("ChaCha20-Poly1305", leavesKey: true)

    private init?(_ name: String, leavesKey: Bool) {
        guard let cipher = EVP_CIPHER_fetch(nil, name, nil), let provider = EVP_CIPHER_get0_provider(cipher),
            let table = Self.functions(of: name, in: provider)
        else { return nil }
        guard let create = table[OSSL_FUNC_CIPHER_NEWCTX].flatMap({ OSSL_FUNC_cipher_newctx($0) }),
            let release = table[OSSL_FUNC_CIPHER_FREECTX].flatMap({ OSSL_FUNC_cipher_freectx($0) }),
            let beginSealing = table[OSSL_FUNC_CIPHER_ENCRYPT_INIT].flatMap({ OSSL_FUNC_cipher_encrypt_init($0) }),
            let beginOpening = table[OSSL_FUNC_CIPHER_DECRYPT_INIT].flatMap({ OSSL_FUNC_cipher_decrypt_init($0) }),
            let update = table[OSSL_FUNC_CIPHER_UPDATE].flatMap({ OSSL_FUNC_cipher_update($0) }),
            let finish = table[OSSL_FUNC_CIPHER_FINAL].flatMap({ OSSL_FUNC_cipher_final($0) }),
            let get = table[OSSL_FUNC_CIPHER_GET_CTX_PARAMS].flatMap({ OSSL_FUNC_cipher_get_ctx_params($0) }),
            let set = table[OSSL_FUNC_CIPHER_SET_CTX_PARAMS].flatMap({ OSSL_FUNC_cipher_set_ctx_params($0) })
        else { return nil }
        self.provider = OSSL_PROVIDER_get0_provider_ctx(provider)
        self.create = create
        self.release = release
        self.beginSealing = beginSealing
        self.beginOpening = beginOpening
        self.update = update
        self.finish = finish
        self.get = get
        self.set = set
        usesVectors = has_upper_halves() != 0
        self.leavesKey = leavesKey
    }

    /// The functions that a provider lists for a cipher, by number.
    private static func functions(
        of name: String, in provider: OpaquePointer
    ) -> [Int32: UnsafePointer<OSSL_DISPATCH>]? {
        var mayNotBeKept: Int32 = 0
        guard var algorithm = OSSL_PROVIDER_query_operation(provider, OSSL_OP_CIPHER, &mayNotBeKept),
            mayNotBeKept == 0
        else { return nil }
        while let names = algorithm.pointee.algorithm_names {
            let isNamed = String(cString: names).split(separator: ":").contains {
                $0.lowercased() == name.lowercased()
            }
            if isNamed, var entry = algorithm.pointee.implementation {
                var functions: [Int32: UnsafePointer<OSSL_DISPATCH>] = [:]
                while entry.pointee.function_id != 0 {
                    functions[entry.pointee.function_id] = entry
                    entry += 1
                }
                return functions
            }
            algorithm += 1
        }
        return nil
    }
}
