internal import CLocalData
package import LocalDataAPI

/// A cipher stream of a loaded provider, used by one thread at a time. It is cancelled if it is deallocated unfinished.
package final class LoadedCipherStream {
    private let crypto: LoadedCrypto
    private let table: ld_crypto_incremental
    private let tagSize: Int
    /// `nil` once it has ended.
    private var stream: UnsafeMutableRawPointer?

    fileprivate init(
        _ crypto: LoadedCrypto, _ table: ld_crypto_incremental, _ stream: UnsafeMutableRawPointer?, tagSize: Int
    ) {
        self.crypto = crypto
        self.table = table
        self.stream = stream
        self.tagSize = tagSize
    }

    deinit {
        if let stream { crypto.identity.site("stream cancel").plain { table.cancel(crypto.table.`self`, stream) } }
    }

    /// Transforms the next piece; `output` is as long as `input`. The output of an opening stream is not authentic
    /// before ``open(tag:)`` has returned.
    package func update(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(StorageError) {
        precondition(output.count == input.count)
        let stream = try running()
        try crypto.call("stream update") {
            table.update(crypto.table.`self`, stream, ld_bytes(input), output.baseAddress, $0)
        }
    }

    /// Ends a sealing stream and writes the tag.
    package func seal(tag: UnsafeMutableRawBufferPointer) throws(StorageError) {
        precondition(tag.count == tagSize)
        let stream = try running()
        self.stream = nil
        try crypto.call("stream seal") { table.seal(crypto.table.`self`, stream, tag.baseAddress, $0) }
    }

    /// Ends an opening stream.
    ///
    /// - Throws: `cannotOpen` if the tag is wrong.
    package func open(tag: UnsafeRawBufferPointer) throws(StorageError) {
        let stream = try running()
        self.stream = nil
        try crypto.call("stream open") { table.open(crypto.table.`self`, stream, ld_bytes(tag), $0) }
    }

    private func running() throws(StorageError) -> UnsafeMutableRawPointer {
        guard let stream else { throw StorageError(.unsupported, "the cipher stream has already ended") }
        return stream
    }
}

extension LoadedCrypto {
    /// Whether the provider offers the cipher in pieces.
    package func offersInPieces(_ cipher: AuthenticatedCipher) -> Bool {
        incremental != nil && (algorithms[cipher.id]?.flags ?? 0) & LD_ALGORITHM_INCREMENTAL != 0
    }

    /// Starts to seal or to open in pieces.
    ///
    /// - Throws: `unsupported` if the provider does not offer the cipher in pieces.
    package func begin(
        _ direction: CipherDirection, with cipher: AuthenticatedCipher, key: UnsafeRawBufferPointer,
        nonce: UnsafeRawBufferPointer, authenticating data: UnsafeRawBufferPointer
    ) throws(StorageError) -> LoadedCipherStream {
        guard let incremental, offersInPieces(cipher) else {
            throw StorageError(.unsupported, "the crypto provider '\(component)' does not offer \(cipher) in pieces")
        }
        var stream: UnsafeMutableRawPointer?
        try call("stream begin") {
            incremental.begin(
                table.`self`, cipher.id, direction == .seal ? 1 : 0, ld_bytes(key), ld_bytes(nonce),
                ld_bytes(data), &stream, $0)
        }
        guard stream != nil else {
            throw identity.violation("stream begin", "it began a stream at the address NULL")
        }
        return LoadedCipherStream(self, incremental, stream, tagSize: cipher.tagSize)
    }
}
