internal import FoundationEssentials
internal import HostGround
internal import HostPlugins
package import LocalDataAPI

/// Seals a value on demand: reads plaintext from its source as the caller reads the sealed form. Memory is bounded by
/// two chunks. Used by one thread at a time.
///
/// After a failed read, every later read fails, so that a part of the value is not mistaken for all of it.
package final class EnvelopeSource {
    /// Fills a buffer and returns the number of bytes; 0 at the end.
    package typealias Fill = (UnsafeMutableRawBufferPointer) throws -> Int

    private let fill: Fill
    private var chunks: EnvelopeChunks
    /// Plaintext of the next chunk, and one more byte that shows whether another chunk follows.
    private let plaintext: UnsafeMutableRawBufferPointer
    private var filled = 0
    /// Sealed bytes that the caller has yet to read.
    private let sealed: UnsafeMutableRawBufferPointer
    private var ready: Range<Int>
    private var isDone = false
    private var failure: (any Error)?

    /// Seals what `fill` supplies.
    package init(
        _ envelope: Envelope, under key: EnvelopeKey, as style: EnvelopeStyle, attributes: ValueAttributes?,
        from fill: @escaping Fill
    ) throws(StorageError) {
        self.fill = fill
        chunks = try envelope.chunks(under: key, as: style, attributes: attributes)
        let header = chunks.header.encoded
        plaintext = .allocate(byteCount: chunks.header.chunkSize + 1, alignment: 64)
        sealed = .allocate(byteCount: max(chunks.sealedSize, header.count), alignment: 64)
        sealed.copyBytes(from: header)
        ready = 0..<header.count
    }

    deinit {
        clear(plaintext)
        plaintext.deallocate()
        sealed.deallocate()
    }

    /// Fills a buffer with sealed bytes and returns their number; 0 at the end.
    package func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        if let failure { throw failure }
        if ready.isEmpty, !isDone {
            do { try sealNext() } catch {
                failure = error
                throw error
            }
        }
        let count = min(ready.count, buffer.count)
        buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: sealed[ready.prefix(count)]))
        ready = ready.dropFirst(count)
        return count
    }

    private func sealNext() throws {
        while filled < plaintext.count {
            let space = UnsafeMutableRawBufferPointer(rebasing: plaintext[filled...])
            let count = try fill(space)
            guard (0...space.count).contains(count) else {
                throw StorageError(
                    .unknown, "the source of a value returned \(count) bytes; expected 0 to \(space.count)")
            }
            if count == 0 { break }
            filled += count
        }
        let size = plaintext.count - 1
        isDone = filled <= size
        let count = min(filled, size)
        let output = UnsafeMutableRawBufferPointer(rebasing: sealed[..<(count + chunks.header.cipher.tagSize)])
        try chunks.seal(UnsafeRawBufferPointer(rebasing: plaintext[..<count]), isLast: isDone, into: output)
        if !isDone { plaintext[0] = plaintext[size] }
        filled -= count
        ready = 0..<output.count
    }
}
