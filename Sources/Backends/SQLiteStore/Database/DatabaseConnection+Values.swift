import DurableFiles
import Glibc
import LocalDataPluginAPI

extension DatabaseConnection {
    /// Passes a whole value; `false` if absent.
    ///
    /// - Throws: `corrupt` for a value whose bytes do not match its checksum; `ValueExpired`.
    @inline(__always)
    func value(_ place: Int64, _ name: UnsafeRawBufferPointer, _ deliver: (RawSpan) -> Void) throws -> Bool {
        var version: Int64?
        return try value(place, name, version: &version, deliver)
    }

    /// Passes a whole value and the mark of its last write.
    @inline(__always)
    func value(
        _ place: Int64, _ name: UnsafeRawBufferPointer, version: inout Int64?, _ deliver: (RawSpan) -> Void
    ) throws -> Bool {
        let statement = try statement(.value)
        statement.bind(1, place)
        statement.bind(2, text: name)
        guard try statement.step() else { return false }
        try Self.refuseExpired(statement)
        version = statement.number(1)
        try pass(statement, name, deliver)
        return true
    }

    /// Passes a whole value with the mark of its last write and its attributes; `false` if absent.
    ///
    /// - Throws: `corrupt` for a value whose bytes do not match its checksum; `ValueExpired`.
    func described(
        _ place: Int64, _ name: UnsafeRawBufferPointer, _ deliver: (_ version: Int64, ValueAttributes, RawSpan) -> Void
    ) throws -> Bool {
        let statement = try statement(.described)
        statement.bind(1, place)
        statement.bind(2, text: name)
        guard try statement.step() else { return false }
        try Self.refuseExpired(statement)
        let version = statement.number(1)
        let attributes = ValueAttributes(
            contentType: statement.text(7), serializer: statement.text(8), versionTag: statement.text(5),
            appVersion: statement.text(9), owner: statement.text(10), size: UInt64(max(0, statement.number(2))),
            modified: statement.number(6), expires: statement.numberIfThere(4))
        try pass(statement, name) { deliver(version, attributes, $0) }
        return true
    }

    /// - Throws: `ValueExpired` if the value that a statement of whole values has found has expired.
    @inline(__always)
    private static func refuseExpired(_ statement: borrowing PreparedStatement) throws {
        guard let expires = statement.numberIfThere(4), expires <= Moment.now else { return }
        throw ValueExpired()
    }

    /// Passes the value that a statement of whole values has found. The statement stays open until the end, so that
    /// the pieces of a value are of one moment.
    @inline(__always)
    private func pass(
        _ statement: borrowing PreparedStatement, _ name: UnsafeRawBufferPointer, _ deliver: (RawSpan) -> Void
    ) throws {
        let found = statement.number(1)
        let checksum = RowChecksum.checksum(in: statement.numberIfThere(3), version: found)
        guard statement.isNull(0) else {
            let content = statement.bytes(0)
            if let checksum, Checksum(of: content).value != checksum { throw corrupt(name, found, isInRow: true) }
            return deliver(content.bytes)
        }
        try gather(found, size: statement.number(2), checksum, name, deliver)
    }

    /// Passes a value in pieces until `body` returns `false`; `nil` if absent. All belong to one value, since
    /// the statement that found it stays open until the end. The last piece is passed after all have been verified.
    ///
    /// - Throws: `corrupt` for a value whose bytes do not match its checksum; `ValueExpired`.
    func pieces(
        _ place: Int64, _ name: UnsafeRawBufferPointer, _ body: (RawSpan) -> Bool
    ) throws -> ValueState? {
        let statement = try statement(.value)
        statement.bind(1, place)
        statement.bind(2, text: name)
        guard try statement.step() else { return nil }
        try Self.refuseExpired(statement)
        let version = statement.number(1)
        let checksum = RowChecksum.checksum(in: statement.numberIfThere(3), version: version)
        let state = checksum == nil ? ValueState.unrecorded : .intact
        guard statement.isNull(0) else {
            let content = statement.bytes(0)
            if let checksum, Checksum(of: content).value != checksum { throw corrupt(name, version, isInRow: true) }
            for start in stride(from: 0, to: content.count, by: ValueRows.size / 4) {
                let piece = content[start..<min(start + ValueRows.size / 4, content.count)]
                guard body(UnsafeRawBufferPointer(rebasing: piece).bytes) else { break }
            }
            return state
        }
        let size = statement.number(2)
        var content = Checksum()
        var isRight = true
        let isWhole = try forEachPiece(version) { piece in
            content.add(piece)
            if let checksum, content.count >= size { isRight = content.count == size && content.value == checksum }
            return isRight && body(piece.bytes)
        }
        guard isRight else { throw corrupt(name, version, isInRow: false) }
        guard !isWhole || content.count == size else {
            throw damaged("a value of \(size) bytes has pieces of \(content.count)")
        }
        return state
    }

    /// Passes a value that is stored in pieces.
    func gather(
        _ version: Int64, size: Int64, _ checksum: UInt32?, _ name: UnsafeRawBufferPointer,
        _ deliver: (RawSpan) -> Void
    ) throws {
        guard (0...1_000_000_000).contains(size) else { throw damaged("a value has \(size) bytes") }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Int(size), alignment: 16)
        defer {
            // It may be part of a secret.
            memset_explicit(buffer)
            buffer.deallocate()
        }
        var count = 0
        let isWhole = try forEachPiece(version) { piece in
            guard piece.count <= buffer.count - count else { return false }
            UnsafeMutableRawBufferPointer(rebasing: buffer[count...]).copyMemory(from: piece)
            count += piece.count
            return true
        }
        guard isWhole, count == buffer.count else { throw damaged("a value of \(size) bytes has other pieces") }
        let content = UnsafeRawBufferPointer(buffer)
        if let checksum, Checksum(of: content).value != checksum { throw corrupt(name, version, isInRow: false) }
        deliver(content.bytes)
    }

    /// The error for a value whose bytes do not match its checksum, and how to read them anyway.
    private func corrupt(_ name: UnsafeRawBufferPointer, _ version: Int64, isInRow: Bool) -> StorageError {
        let name = String(decoding: name, as: UTF8.self)
        let bytes =
            isInRow
            ? "SELECT writefile('FILE', content) FROM value WHERE version = \(version)"
            : "SELECT content FROM piece WHERE version = \(version) ORDER BY number"
        return StorageError(
            .corrupt,
            "the value '\(name)' in the database '\(path)' is corrupt: its bytes are not those that were stored",
            hint: "restore it from a backup, or set or remove it; its bytes as they are: sqlite3 '\(path)' \"\(bytes)\""
        )
    }

    /// Whether `body` accepted all of them.
    private func forEachPiece(_ version: Int64, _ body: (UnsafeRawBufferPointer) -> Bool) throws -> Bool {
        let statement = try statement(.pieces)
        statement.bind(1, version)
        while try statement.step() {
            guard body(statement.bytes(0)) else { return false }
        }
        return true
    }

    private func memset_explicit(_ buffer: UnsafeMutableRawBufferPointer) {
        if let start = buffer.baseAddress { explicit_bzero(start, buffer.count) }
    }

    /// The mark of a value's last write; `nil` if there is no value, or only an expired one.
    func version(_ place: Int64, _ name: UnsafeRawBufferPointer) throws -> Int64? {
        try found(place, name).flatMap { $0.isExpired ? nil : $0.version }
    }

    /// The mark of a value's last write, and whether it has expired; `nil` if there is nothing.
    func found(_ place: Int64, _ name: UnsafeRawBufferPointer) throws -> (version: Int64, isExpired: Bool)? {
        let statement = try statement(.version)
        statement.bind(1, place)
        statement.bind(2, text: name)
        guard try statement.step() else { return nil }
        return (statement.number(0), statement.numberIfThere(1).map { $0 <= Moment.now } ?? false)
    }

    /// A value's attributes; `nil` if there is no value.
    func attributes(_ place: Int64, _ name: UnsafeRawBufferPointer) throws -> ValueAttributes? {
        let statement = try statement(.attributes)
        statement.bind(1, place)
        statement.bind(2, text: name)
        guard try statement.step() else { return nil }
        let expires = statement.numberIfThere(7)
        if let expires, expires <= Moment.now { throw ValueExpired() }
        return ValueAttributes(
            contentType: statement.text(2), serializer: statement.text(3), versionTag: statement.text(4),
            appVersion: statement.text(5), owner: statement.text(6), size: UInt64(max(0, statement.number(1))),
            modified: statement.number(0), expires: expires)
    }
}
