import COpenSSL
package import LocalDataAPI

/// Placeholder until the algorithms are in.
package struct OpenSSLCrypto: CryptoProvider {
    package static let component = ComponentInfo(id: "openssl", summary: "computes with OpenSSL")
    package let ciphers: [AuthenticatedCipher] = []
    package let derivations: [KeyDerivationFunction] = []
    package let agreements: [KeyAgreement] = []

    package init(options: ComponentOptions, host: HostServices) throws {}

    package func seal(
        _ plaintext: RawSpan, with cipher: AuthenticatedCipher, key: RawSpan, nonce: RawSpan,
        authenticating data: RawSpan, ciphertext: inout MutableRawSpan, tag: inout MutableRawSpan
    ) throws { throw StorageError(.unsupported) }

    package func open(
        _ ciphertext: RawSpan, tag: RawSpan, with cipher: AuthenticatedCipher, key: RawSpan, nonce: RawSpan,
        authenticating data: RawSpan, plaintext: inout MutableRawSpan
    ) throws { throw StorageError(.unsupported) }

    package func deriveKey(
        from secret: RawSpan, salt: RawSpan, info: RawSpan, into key: inout MutableRawSpan
    ) throws { throw StorageError(.unsupported) }

    package func random(into bytes: inout MutableRawSpan) throws { throw StorageError(.unsupported) }
}
