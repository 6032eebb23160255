import Glibc

extension OpenFile {
    /// Hands the whole content to `deliver`, exactly once. The bytes are cleared before their memory is given back.
    ///
    /// A file that someone edits in place meanwhile is read again, a few times.
    ///
    /// - Throws: `FileKindError` for what is not a regular file; `SystemCallError`, also with `EAGAIN` if the file
    ///   never stood still, and `ENOMEM` if it does not fit into memory.
    package func read(_ deliver: (RawSpan) -> Void) throws {
        for _ in 0..<Self.attempts {
            let status = try status()
            // One more than is expected, so that the end is seen by the same call.
            let (capacity, isTooLarge) = status.size.addingReportingOverflow(1)
            guard !isTooLarge, let memory = malloc(capacity) else { throw failure(ENOMEM, "read") }
            let buffer = UnsafeMutableRawBufferPointer(start: memory, count: capacity)
            var filled = 0
            defer {
                explicit_bzero(memory, filled)
                free(memory)
            }
            while filled < capacity {
                let count = try fill(UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]), from: filled)
                filled += count
                if count == 0 || filled == status.size { break }
            }
            guard filled == status.size else { continue }
            if status.size > Self.readAtOnce {
                let now = try self.status()
                guard now.isSameContent(as: status) else { continue }
            }
            deliver(UnsafeRawBufferPointer(rebasing: buffer[..<filled]).bytes)
            return
        }
        throw failure(EAGAIN, "read, because it keeps changing,")
    }

    /// Hands out the content in pieces, in order, until `body` returns `false`.
    package func readPieces(_ body: (RawSpan) -> Bool) throws {
        let capacity = max(1, min(Self.pieceSize, try status().size))
        guard let memory = malloc(capacity) else { throw failure(ENOMEM, "read") }
        let buffer = UnsafeMutableRawBufferPointer(start: memory, count: capacity)
        defer {
            explicit_bzero(memory, capacity)
            free(memory)
        }
        var offset = 0
        while true {
            let count = try fill(buffer, from: offset)
            guard count > 0 else { return }
            offset += count
            guard body(UnsafeRawBufferPointer(rebasing: buffer[..<count]).bytes) else { return }
        }
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
