internal import FoundationEssentials
internal import HostGround
internal import HostPlugins
internal import LocalDataAPI

/// Seals a value that arrives in pieces, and passes each chunk on as soon as the next one begins: the counterpart of
/// ``EnvelopeOpener``. Memory is bounded by two chunks. Used by one thread at a time.
package final class EnvelopeSealer {
    private var chunks: EnvelopeChunks
    private let plaintext: UnsafeMutableRawBufferPointer
    private var filled = 0
    private let sealed: UnsafeMutableRawBufferPointer
    private let write: (UnsafeRawBufferPointer) throws -> Void

    /// Passes the header on.
    package init(
        _ envelope: Envelope, under key: EnvelopeKey, as style: EnvelopeStyle,
        to write: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        self.write = write
        chunks = try envelope.chunks(under: key, as: style, attributes: nil)
        plaintext = .allocate(byteCount: chunks.header.chunkSize, alignment: 64)
        sealed = .allocate(byteCount: chunks.sealedSize, alignment: 64)
        try chunks.header.encoded.withUnsafeBytes { try write($0) }
    }

    deinit {
        clear(plaintext)
        plaintext.deallocate()
        sealed.deallocate()
    }

    /// Takes the next piece.
    package func take(_ piece: UnsafeRawBufferPointer) throws {
        var rest = piece[...]
        while !rest.isEmpty {
            // A full chunk is sealed only when more bytes follow: otherwise it is the last.
            if filled == plaintext.count { try seal(isLast: false) }
            let part = rest.prefix(plaintext.count - filled)
            UnsafeMutableRawBufferPointer(rebasing: plaintext[filled..<filled + part.count])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: part))
            filled += part.count
            rest = rest.dropFirst(part.count)
        }
    }

    /// Ends the value: seals the last chunk.
    package func finish() throws { try seal(isLast: true) }

    private func seal(isLast: Bool) throws {
        let output = UnsafeMutableRawBufferPointer(rebasing: sealed[..<(filled + chunks.header.cipher.tagSize)])
        try chunks.seal(UnsafeRawBufferPointer(rebasing: plaintext[..<filled]), isLast: isLast, into: output)
        filled = 0
        try write(UnsafeRawBufferPointer(output))
    }
}
