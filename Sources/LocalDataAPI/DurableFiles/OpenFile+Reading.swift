import Glibc

extension OpenFile {
    /// Passes the whole content to `deliver`, exactly once. The bytes are cleared before their memory is freed.
    ///
    /// If someone edits the file in place meanwhile, it is read again, a few times.
    ///
    /// - Parameters:
    ///   - known: The cached record of the content of a file with this status; `nil` if there is none.
    ///   - recorded: The stored record of the content; called if the content does not match the cached one.
    /// - Throws: `CorruptFileError` for content that does not match its record, unless someone edited it;
    ///   `FileKindError` for an irregular file; `SystemCallError`, also with `EAGAIN` if the file kept changing, and
    ///   `ENOMEM` if it does not fit into memory.
    @discardableResult
    package func read(
        expecting known: (FileStatus) throws -> ContentRecord? = { _ in nil },
        recorded: () throws -> ContentRecord? = { nil }, _ deliver: (RawSpan) -> Void
    ) throws -> ContentState {
        for _ in 0..<Self.attempts {
            let status = try status()
            let expected = try known(status)
            let state: ContentState?? = try withBytes(status.size) { bytes in
                guard bytes.count == status.size else { return nil }
                if let expected, expected.matches(Checksum(of: bytes)) {
                    deliver(bytes.bytes)
                    return .intact
                }
                if expected != nil || status.size > Self.readAtOnce {
                    let now = try self.status()
                    guard now.isSameContent(as: status) else { return nil }
                }
                let record = expected == nil ? nil : try recorded()
                let state = try record.map { try judge(Checksum(of: bytes), status, $0) } ?? .unrecorded
                deliver(bytes.bytes)
                return state
            }
            guard let state else { throw failure(ENOMEM, "read") }
            if let state { return state }
        }
        throw failure(EAGAIN, "read, because it keeps changing,")
    }

    /// Passes the content in pieces, in order, until `body` returns `false`. The last piece is passed only after the
    /// whole content has matched its record.
    ///
    /// - Throws: As ``read(expecting:_:)``.
    @discardableResult
    package func readPieces(expecting record: ContentRecord? = nil, _ body: (RawSpan) -> Bool) throws -> ContentState {
        let status = try status()
        var state = ContentState.unrecorded
        if let record {
            state = .intact
            if status.size != record.size { state = try judge(nil, status, record) }
        }
        let capacity = max(1, min(Self.pieceSize, status.size))
        guard let memory = malloc(capacity) else { throw failure(ENOMEM, "read") }
        let buffer = UnsafeMutableRawBufferPointer(start: memory, count: capacity)
        defer {
            explicit_bzero(memory, capacity)
            free(memory)
        }
        var content = Checksum()
        while true {
            let count = try fill(buffer, from: content.count)
            let piece = UnsafeRawBufferPointer(rebasing: buffer[..<count])
            content.add(piece)
            if let record, state == .intact, count == 0 || content.count >= record.size, !record.matches(content) {
                state = try judge(content, self.status(), record)
            }
            guard count > 0, body(piece.bytes) else { return state }
        }
    }

    /// Classifies content that does not match its record.
    private func judge(_ content: Checksum?, _ status: FileStatus, _ record: ContentRecord) throws -> ContentState {
        if let content, record.matches(content) { return .intact }
        guard record.isEdited(status) else { throw CorruptFileError(path: location.description) }
        return .edited
    }

    /// Lends the content if it has the expected size, or one byte more if it is larger; `nil` if there is no memory for
    /// it.
    private func withBytes<Result>(
        _ size: Int, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result? {
        // One byte more than expected, so that the same call finds the end.
        let (capacity, isTooLarge) = size.addingReportingOverflow(1)
        guard !isTooLarge, capacity > 0, let memory = malloc(capacity) else { return nil }
        let buffer = UnsafeMutableRawBufferPointer(start: memory, count: capacity)
        var filled = 0
        defer {
            explicit_bzero(memory, filled)
            free(memory)
        }
        while filled < capacity {
            let count = try fill(UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]), from: filled)
            filled += count
            if count == 0 || filled == size { break }
        }
        return try body(UnsafeRawBufferPointer(rebasing: buffer[..<filled]))
    }

    /// The piece size in bytes for reading and writing.
    package static let pieceSize = 256 << 10

    private func fill(_ buffer: UnsafeMutableRawBufferPointer, from offset: Int) throws -> Int {
        while true {
            let count = pread(descriptor.number, buffer.baseAddress, buffer.count, off_t(offset))
            if count >= 0 { return count }
            guard errno == EINTR else { throw failure(errno, "read") }
        }
    }

    /// Up to this size, edits in place are not checked for: the system copies such a piece in one go.
    private static let readAtOnce = 16 << 10
    private static let attempts = 8
}
