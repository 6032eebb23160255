internal import COpenSSL
internal import LocalDataAPI

/// A cipher under one key and nonce.
///
/// Each has a context of the provider's of its own, which is overwritten and freed when it goes away: with it go key
/// schedule, one-time keys and what is left of the key stream. To keep contexts for the next call and put zeros in the
/// place of keys would leave the latter two, and for AES takes 115 ns where a new context takes 65.
struct CipherContext: ~Copyable {
    private let cipher: ProvidedCipher
    private let pointer: UnsafeMutableRawPointer

    @inline(__always)
    init(_ cipher: ProvidedCipher) throws(StorageError) {
        guard let pointer = cipher.create(cipher.provider) else { throw LibraryState.failure("newctx of a cipher") }
        self.cipher = cipher
        self.pointer = pointer
    }

    deinit {
        cipher.release(pointer)
        cipher.clearStack()
    }

    /// Takes in key and nonce; before anything else.
    @inline(__always)
    func begin(_ direction: CipherDirection, key: RawSpan, nonce: RawSpan) throws(StorageError) {
        let begin = direction == .seal ? cipher.beginSealing : cipher.beginOpening
        let answer = key.withUnsafeBytes { key in
            nonce.withUnsafeBytes { nonce in
                begin(pointer, key.bytePointer, key.count, nonce.bytePointer, nonce.count, nil)
            }
        }
        try LibraryState.check("start of a cipher", answer)
    }

    /// Takes in data that is only authenticated; before the first `update`.
    @inline(__always)
    func authenticate(_ data: RawSpan) throws(StorageError) {
        guard !data.isEmpty else { return }
        var count = 0
        let answer = data.withUnsafeBytes {
            cipher.update(pointer, nil, &count, $0.count, $0.bytePointer, $0.count)
        }
        cipher.clearVectors()
        try LibraryState.check("update of a cipher with data", answer)
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
        try LibraryState.check("update of a cipher", answer)
        guard count == input.byteCount else {
            throw StorageError(.unknown, "OpenSSL wrote \(count) bytes of a cipher; expected \(input.byteCount)")
        }
    }

    /// Ends sealing; the tag is ready then.
    @inline(__always)
    func finish() throws(StorageError) {
        var count = 0
        var nothing: UInt8 = 0
        let answer = cipher.finish(pointer, &nothing, &count, 0)
        cipher.clearVectors()
        try LibraryState.check("end of a cipher", answer)
    }

    /// Writes the tag of what was sealed.
    @inline(__always)
    func takeTag(into tag: inout MutableRawSpan) throws(StorageError) {
        let answer = tag.withUnsafeMutableBytes { tag in
            var parameters = (OSSL_PARAM.bytes("tag", UnsafeRawBufferPointer(tag)), OSSL_PARAM.end)
            return withUnsafeMutableBytes(of: &parameters) {
                cipher.get(pointer, $0.assumingMemoryBound(to: OSSL_PARAM.self).baseAddress)
            }
        }
        try LibraryState.check("tag of a cipher", answer)
    }

    /// Takes in the tag that what is opened must have; before `verify`.
    @inline(__always)
    func expect(_ tag: RawSpan) throws(StorageError) {
        let answer = tag.withUnsafeBytes { tag in
            var parameters = (OSSL_PARAM.bytes("tag", tag), OSSL_PARAM.end)
            return withUnsafeMutableBytes(of: &parameters) {
                cipher.set(pointer, $0.assumingMemoryBound(to: OSSL_PARAM.self).baseAddress)
            }
        }
        try LibraryState.check("tag of a cipher", answer)
    }

    /// Ends opening.
    ///
    /// - Throws: `cannotOpen` if the tag is wrong.
    @inline(__always)
    func verify(_ name: AuthenticatedCipher) throws(StorageError) {
        var count = 0
        var nothing: UInt8 = 0
        let answer = cipher.finish(pointer, &nothing, &count, 0)
        cipher.clearVectors()
        guard answer == 1 else {
            LibraryState.forgetReasons()
            throw StorageError(.cannotOpen, "\(name): the tag does not fit key, nonce, data and ciphertext")
        }
    }
}
