internal import FoundationEssentials
internal import HostGround
internal import HostPlugins
package import LocalDataAPI

/// Opens a sealed value that arrives in pieces, and passes each chunk on once its tag is verified. Memory is bounded by
/// the largest header and two chunks. Used by one thread at a time.
///
/// After a failure or a stop, every later call throws `cannotOpen`, so that nothing is ever opened in place of a
/// refused chunk.
package final class EnvelopeOpener {
    private let envelope: Envelope
    private let find: Envelope.KeyFinder
    private var chunks: EnvelopeChunks?
    private var header = Data()
    /// Sealed bytes of the next chunk.
    private var sealed = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    private var filled = 0
    private var plaintext = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    /// The number of bytes that were ever written.
    private var used = 0
    private var isFirst = true
    private var isOver = false

    /// Opens with the key that `find` finds.
    package init(_ envelope: Envelope, find: @escaping Envelope.KeyFinder) {
        self.envelope = envelope
        self.find = find
    }

    deinit {
        clear(UnsafeMutableRawBufferPointer(rebasing: plaintext[..<used]))
        plaintext.deallocate()
        sealed.deallocate()
    }

    /// The header, once it has arrived. Authentic after the first chunk was passed on.
    package var parsedHeader: EnvelopeHeader? { chunks?.header }

    /// Takes the next piece; `false` if `body` asked to stop.
    ///
    /// - Throws: As ``Envelope/open(_:find:)``.
    package func take(
        _ piece: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Bool
    ) throws(StorageError) -> Bool {
        guard !isOver else { throw envelope.context.cannotOpen }
        isOver = true
        isOver = try !push(piece, body)
        return !isOver
    }

    private func push(
        _ piece: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Bool
    ) throws(StorageError) -> Bool {
        var rest = piece[...]
        if chunks == nil { try takeHeader(&rest) }
        while !rest.isEmpty {
            // A full chunk is opened only when more bytes follow: otherwise it may be the last.
            if filled == sealed.count, try !open(isLast: false, body) { return false }
            let count = min(rest.count, sealed.count - filled)
            UnsafeMutableRawBufferPointer(rebasing: sealed[filled..<filled + count])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: rest.prefix(count)))
            filled += count
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Ends the value: opens the last chunk.
    package func finish(_ body: (UnsafeRawBufferPointer) -> Bool) throws(StorageError) {
        defer { isOver = true }
        guard !isOver, let tagSize = chunks?.header.cipher.tagSize, filled >= tagSize, filled > tagSize || isFirst
        else { throw envelope.context.cannotOpen }
        _ = try open(isLast: true, body)
    }

    private func takeHeader(_ rest: inout Slice<UnsafeRawBufferPointer>) throws(StorageError) {
        while true {
            let parsed: EnvelopeHeader
            do throws(EnvelopeFault) {
                parsed = try header.withBuffer { (bytes) throws(EnvelopeFault) in try EnvelopeHeader(parsing: bytes) }
            } catch .incomplete(let needed) where !rest.isEmpty {
                let count = min(rest.count, needed - header.count)
                header.append(contentsOf: rest.prefix(count))
                rest = rest.dropFirst(count)
                continue
            } catch .incomplete {
                return
            } catch {
                throw envelope.context.cannotOpen(error)
            }
            return try start(parsed)
        }
    }

    private func start(_ header: EnvelopeHeader) throws(StorageError) {
        let started = try envelope.chunks(header, find: find)
        sealed = .allocate(byteCount: started.sealedSize, alignment: 64)
        plaintext = .allocate(byteCount: header.chunkSize, alignment: 64)
        chunks = consume started
    }

    private func open(
        isLast: Bool, _ body: (UnsafeRawBufferPointer) -> Bool
    ) throws(StorageError) -> Bool {
        guard let tagSize = chunks?.header.cipher.tagSize else { throw envelope.context.cannotOpen }
        let output = UnsafeMutableRawBufferPointer(rebasing: plaintext[..<(filled - tagSize)])
        used = max(used, output.count)
        do throws(StorageError) {
            try chunks?.open(UnsafeRawBufferPointer(rebasing: sealed[..<filled]), isLast: isLast, into: output)
        } catch {
            throw envelope.named(error)
        }
        filled = 0
        isFirst = false
        // As with stores, an empty value has no pieces.
        return output.isEmpty || body(UnsafeRawBufferPointer(output))
    }
}
