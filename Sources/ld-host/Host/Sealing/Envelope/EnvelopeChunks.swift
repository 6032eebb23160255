internal import FoundationEssentials
internal import HostGround
internal import HostPlugins
internal import LocalDataAPI

/// Seals and opens the chunks of one envelope: STREAM with the record's own key, a counter as the nonce, and a mark for
/// the last chunk.
struct EnvelopeChunks: ~Copyable {
    let header: EnvelopeHeader
    private let key: RecordKey
    private let crypto: LoadedCrypto
    private var data: Data
    private let others: () -> [StorageAddress]
    private let nonce: UnsafeMutableRawBufferPointer
    private var counter: UInt64 = 0

    /// The size of a full chunk with its tag, in bytes.
    let sealedSize: Int

    init(
        _ header: EnvelopeHeader, _ key: consuming RecordKey, _ context: EnvelopeContext, _ crypto: LoadedCrypto,
        others: @escaping () -> [StorageAddress] = { [] }
    ) {
        self.header = header
        self.key = key
        self.crypto = crypto
        data = context.authenticated(header)
        self.others = others
        nonce = .allocate(byteCount: header.cipher.nonceSize, alignment: 8)
        nonce.initializeMemory(as: UInt8.self, repeating: 0)
        sealedSize = header.chunkSize + header.cipher.tagSize
    }

    deinit { nonce.deallocate() }

    /// Seals the next chunk: writes ciphertext and tag to `output`.
    mutating func seal(
        _ plaintext: UnsafeRawBufferPointer, isLast: Bool, into output: UnsafeMutableRawBufferPointer
    ) throws(StorageError) {
        advance(isLast)
        defer { MemorySecrecy.clearRegisters() }
        let tag = UnsafeMutableRawBufferPointer(rebasing: output[plaintext.count...])
        let ciphertext = UnsafeMutableRawBufferPointer(rebasing: output[..<plaintext.count])
        let (key, cipher, crypto) = (key.bytes, header.cipher, crypto)
        let nonce = UnsafeRawBufferPointer(nonce)
        try data.withBuffer { (data) throws(StorageError) in
            try crypto.seal(
                plaintext, with: cipher, key: key, nonce: nonce, authenticating: data, ciphertext: ciphertext, tag: tag)
        }
    }

    /// Opens the next chunk, which ends with its tag. The first chunk determines which path of the folder was used for
    /// sealing.
    ///
    /// - Throws: `cannotOpen`.
    mutating func open(
        _ sealed: UnsafeRawBufferPointer, isLast: Bool, into output: UnsafeMutableRawBufferPointer
    ) throws(StorageError) {
        let isFirst = counter == 0
        advance(isLast)
        do throws(StorageError) { return try open(sealed, into: output) } catch {
            guard isFirst, error.code == .cannotOpen else { throw error }
            for other in others() {
                data = EnvelopeContext(other).authenticated(header)
                if (try? open(sealed, into: output)) != nil { return }
            }
            throw error
        }
    }

    private func open(
        _ sealed: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(StorageError) {
        defer { MemorySecrecy.clearRegisters() }
        let tag = UnsafeRawBufferPointer(rebasing: sealed[output.count...])
        let ciphertext = UnsafeRawBufferPointer(rebasing: sealed[..<output.count])
        let (key, cipher, crypto) = (key.bytes, header.cipher, crypto)
        let nonce = UnsafeRawBufferPointer(nonce)
        try data.withBuffer { (data) throws(StorageError) in
            try crypto.open(
                ciphertext, tag: tag, with: cipher, key: key, nonce: nonce, authenticating: data, plaintext: output)
        }
    }

    private mutating func advance(_ isLast: Bool) {
        let size = nonce.count
        nonce.storeBytes(of: counter.bigEndian, toByteOffset: size - 9, as: UInt64.self)
        nonce[size - 1] = isLast ? 1 : 0
        counter += 1
    }
}
