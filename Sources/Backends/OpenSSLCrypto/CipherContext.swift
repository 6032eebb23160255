internal import COpenSSL
internal import LocalDataPluginAPI

/// A cipher under one key and nonce.
///
/// Each has its own provider context, which is overwritten and freed on deallocation, with the key schedule, one-time
/// keys and the rest of the key stream. Reusing contexts and zeroing keys would leave the latter two in memory, and
/// takes 115 ns for AES, where a new context takes 65.
struct CipherContext: ~Copyable {
    /// What it does to the text.
    enum Direction { case seal, open }

    private let cipher: ProvidedCipher
    private let pointer: UnsafeMutableRawPointer

    @inline(__always)
    init(_ cipher: ProvidedCipher) throws(StorageError) {
        guard let pointer = cipher.create(cipher.provider) else { throw OpenSSLLibrary.failure("newctx of a cipher") }
        self.cipher = cipher
        self.pointer = pointer
    }

    deinit {
        cipher.release(pointer)
        cipher.clearStack()
    }

    /// Sets key and nonce; call it first.
    @inline(__always)
    func begin(_ direction: Direction, key: RawSpan, nonce: RawSpan) throws(StorageError) {
        let begin = direction == .seal ? cipher.beginSealing : cipher.beginOpening
        let answer = key.withUnsafeBytes { key in
            nonce.withUnsafeBytes { nonce in
                begin(pointer, key.bytePointer, key.count, nonce.bytePointer, nonce.count, nil)
            }
        }
        try OpenSSLLibrary.check("start of a cipher", answer)
    }

    /// Adds data to authenticate; before the first `update`.
    @inline(__always)
    func authenticate(_ data: RawSpan) throws(StorageError) {
        guard !data.isEmpty else { return }
        var count = 0
        let answer = data.withUnsafeBytes {
            cipher.update(pointer, nil, &count, $0.count, $0.bytePointer, $0.count)
        }
        cipher.clearVectors()
        try OpenSSLLibrary.check("update of a cipher with data", answer)
    }

    /// Transforms a piece; `output` is as long as `input`.
    @inline(__always)
    func update(_ input: RawSpan, into output: inout MutableRawSpan) throws(StorageError) {
        guard !input.isEmpty else { return }
        var count = 0
        let answer = output.withUnsafeMutableBytes { output in
            input.withUnsafeBytes {
                cipher.update(pointer, output.bytePointer, &count, output.count, $0.bytePointer, $0.count)
            }
        }
        cipher.clearVectors()
        try OpenSSLLibrary.check("update of a cipher", answer)
        guard count == input.byteCount else {
            throw StorageError(.unknown, "OpenSSL wrote \(count) bytes of a cipher; expected \(input.byteCount)")
        }
    }

    /// Ends sealing; then the tag is ready.
    @inline(__always)
    func finish() throws(StorageError) {
        var count = 0
        var nothing: UInt8 = 0
        let answer = cipher.finish(pointer, &nothing, &count, 0)
        cipher.clearVectors()
        try OpenSSLLibrary.check("end of a cipher", answer)
    }

    /// Writes the tag of the sealed text.
    @inline(__always)
    func takeTag(into tag: inout MutableRawSpan) throws(StorageError) {
        let answer = tag.withUnsafeMutableBytes { tag in
            var parameters = (OSSL_PARAM.bytes("tag", UnsafeRawBufferPointer(tag)), OSSL_PARAM.end)
            return withUnsafeMutableBytes(of: &parameters) {
                cipher.get(pointer, $0.assumingMemoryBound(to: OSSL_PARAM.self).baseAddress)
            }
        }
        try OpenSSLLibrary.check("tag of a cipher", answer)
    }

    /// Sets the tag to verify; before `verify`.
    @inline(__always)
    func expect(_ tag: RawSpan) throws(StorageError) {
        let answer = tag.withUnsafeBytes { tag in
            var parameters = (OSSL_PARAM.bytes("tag", tag), OSSL_PARAM.end)
            return withUnsafeMutableBytes(of: &parameters) {
                cipher.set(pointer, $0.assumingMemoryBound(to: OSSL_PARAM.self).baseAddress)
            }
        }
        try OpenSSLLibrary.check("tag of a cipher", answer)
    }

    /// Ends opening and verifies the tag.
    ///
    /// - Throws: `cannotOpen` if the tag is wrong.
    @inline(__always)
    func verify(_ name: AuthenticatedCipher) throws(StorageError) {
        var count = 0
        var nothing: UInt8 = 0
        let answer = cipher.finish(pointer, &nothing, &count, 0)
        cipher.clearVectors()
        guard answer == 1 else {
            OpenSSLLibrary.forgetReasons()
            throw StorageError(.cannotOpen, "\(name): the tag does not match key, nonce, data and ciphertext")
        }
    }
}
