import Glibc

extension OpenFile {
    /// Hands the whole content to `deliver`, exactly once. The bytes are cleared before their memory is given back.
    ///
    /// A file that someone edits in place meanwhile is read again, a few times.
    ///
    /// - Parameters:
    ///   - known: What is, or was, recorded of the content of a file of such a status; `nil` if nothing is.
    ///   - recorded: What is recorded of the content; asked for if it is other than was known.
    /// - Throws: `CorruptFileError` for other content than was recorded, unless somebody edited it; `FileKindError` for
    ///   what is not a regular file; `SystemCallError`, also with `EAGAIN` if the file never stood still, and `ENOMEM`
    ///   if it does not fit into memory.
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

    /// Hands out the content in pieces, in order, until `body` returns `false`. The last piece of what was recorded is
    /// handed out when all of it has proved right.
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

    /// What other content than was recorded is.
    private func judge(_ content: Checksum?, _ status: FileStatus, _ record: ContentRecord) throws -> ContentState {
        if let content, record.matches(content) { return .intact }
        guard record.isEdited(status) else { throw CorruptFileError(path: location.description) }
        return .edited
    }

    /// Lends the content, if it has the size that is expected, or as much more as shows that it has not; `nil` if there
    /// is no memory for it.
    private func withBytes<Result>(
        _ size: Int, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result? {
        // One more than is expected, so that the end is seen by the same call.
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

    /// How many bytes go through memory at once when a file is read or written in pieces.
    package static let pieceSize = 256 << 10

    private func fill(_ buffer: UnsafeMutableRawBufferPointer, from offset: Int) throws -> Int {
        while true {
            let count = pread(descriptor.number, buffer.baseAddress, buffer.count, off_t(offset))
            if count >= 0 { return count }
            guard errno == EINTR else { throw failure(errno, "read") }
        }
    }

    /// Up to here an edit in place is not looked for: the system copies such a piece in one go.
    private static let readAtOnce = 16 << 10
    private static let attempts = 8
}
