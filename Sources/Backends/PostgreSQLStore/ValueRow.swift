internal import DurableFiles
internal import Glibc
internal import LocalDataPluginAPI

/// What a value's row says about it.
struct ValueRow {
    let revision: Int64
    let size: Int
    let checksum: UInt32
    let versionTag: String?
    /// Only read by ``StoreStatement/describedValue``.
    let attributes: ValueAttributes

    init(_ answer: ResultRows) {
        revision = answer.integer(1)
        size = Int(answer.integer(2))
        checksum = UInt32(truncatingIfNeeded: answer.integer(3))
        versionTag = answer.text(4)
        attributes = answer.columns > 6 ? ValueAttributes(answer, row: 0, from: 6) : ValueAttributes()
    }

    /// Whether these are the bytes that were stored.
    func matches(_ content: Checksum) -> Bool { content.count == size && content.value == checksum }
}

extension PostgreSQLStore {
    /// Passes a whole value; `nil` if absent.
    ///
    /// - Parameter statement: ``StoreStatement/value``, or ``StoreStatement/describedValue`` to read its attributes.
    /// - Throws: `corrupt` for a value whose bytes do not match its checksum; `ValueExpired`.
    func value(
        _ key: PostgreSQLKey, _ statement: StoreStatement = .value, _ deliver: (ValueRow, RawSpan) -> Void
    ) throws -> ValueRow? {
        let found = try pool.read("reading '\(key.address)'") { link, deadline in
            try row(statement, key, link, deadline)
        }
        guard let found else { return nil }
        guard found.isNull(5) else {
            let (value, content) = (ValueRow(found), found.bytes(5))
            guard value.matches(Checksum(of: content)) else { throw corrupt(key) }
            deliver(value, content.bytes)
            found.clear(5)
            return value
        }
        return try gather(key, statement, deliver)
    }

    /// Passes a value that is stored in pieces.
    private func gather(
        _ key: PostgreSQLKey, _ statement: StoreStatement, _ deliver: (ValueRow, RawSpan) -> Void
    ) throws -> ValueRow? {
        // A damaged row may have any size, so the memory may not be there.
        var (memory, count) = (UnsafeMutableRawPointer?.none, 0)
        defer {
            if let memory { explicit_bzero(memory, count) }
            free(memory)
        }
        var isTooLarge = false
        let value = try pieces(of: key, statement) { value, piece in
            if memory == nil { memory = malloc(value.size) }
            isTooLarge = memory == nil
            guard let memory else { return false }
            UnsafeMutableRawBufferPointer(start: memory + count, count: piece.count).copyMemory(from: piece)
            count += piece.count
            return true
        }
        guard let value else { return nil }
        guard !isTooLarge else {
            throw StorageError(
                .valueTooLarge, "the value '\(key.address)' has \(value.size) bytes, for which there is no memory",
                hint: "read it in pieces; if its row is damaged, set or remove the value")
        }
        deliver(value, UnsafeRawBufferPointer(start: memory, count: count).bytes)
        return value
    }

    /// Passes a value in pieces, all of one moment, until `body` returns `false`; `nil` if absent. The last piece is
    /// passed after all have been verified.
    func pieces(
        of key: PostgreSQLKey, _ statement: StoreStatement = .value,
        _ body: (ValueRow, UnsafeRawBufferPointer) -> Bool
    ) throws -> ValueRow? {
        try pool.readMoment("reading '\(key.address)'") { link in
            guard let row = try row(statement, key, link, pool.deadline()) else { return nil }
            let value = ValueRow(row)
            var content = Checksum()
            func pass(_ piece: UnsafeRawBufferPointer) throws -> Bool {
                content.add(piece)
                guard content.count < value.size || value.matches(content) else { throw corrupt(key) }
                return body(value, piece)
            }
            guard row.isNull(5) else {
                let bytes = row.bytes(5)
                guard value.matches(Checksum(of: bytes)) else { throw corrupt(key) }
                for start in stride(from: 0, to: bytes.count, by: ValuePieces.size) {
                    let piece = bytes[start..<min(start + ValuePieces.size, bytes.count)]
                    guard body(value, UnsafeRawBufferPointer(rebasing: piece)) else { break }
                }
                return value
            }
            var next: Int32 = 0
            while content.count < value.size {
                let call = StatementCall(
                    .pieces, [.integer(value.revision), .short(next), .integer(Int64(ValuePieces.atOnce))])
                guard let found = try link.exchange([call], until: pool.deadline()).first, found.count > 0 else {
                    throw corrupt(key)
                }
                for row in 0..<found.count {
                    guard try pass(found.bytes(0, row: row)) else { return value }
                }
                next += Int32(found.count)
            }
            guard value.matches(content) else { throw corrupt(key) }
            return value
        }
    }

    func corrupt(_ key: PostgreSQLKey) -> StorageError {
        StorageError(
            .corrupt, "the value '\(key.address)' is corrupt: its bytes are not those that were stored",
            hint: "restore it from a backup, or set or remove it")
    }
}
