import Glibc
import LocalDataAPI

extension Connection {
    /// Hands out a whole value; `false` if there is none.
    @inline(__always)
    func value(_ place: Int64, _ name: UnsafeRawBufferPointer, _ deliver: (RawSpan) -> Void) throws -> Bool {
        let statement = try statement(.value)
        statement.bind(1, place)
        statement.bind(2, text: name)
        guard try statement.step() else { return false }
        guard statement.isNull(0) else {
            deliver(statement.bytes(0).bytes)
            return true
        }
        try gather(statement.number(1), size: statement.number(2), deliver)
        return true
    }

    /// The same, and tells the mark of its last write.
    func value(
        _ place: Int64, _ name: UnsafeRawBufferPointer, version: inout Int64?, _ deliver: (RawSpan) -> Void
    ) throws -> Bool {
        let statement = try statement(.value)
        statement.bind(1, place)
        statement.bind(2, text: name)
        guard try statement.step() else { return false }
        version = statement.number(1)
        guard statement.isNull(0) else {
            deliver(statement.bytes(0).bytes)
            return true
        }
        // The statement is under way until the end, so that the pieces are of the same moment.
        try gather(statement.number(1), size: statement.number(2), deliver)
        return true
    }

    /// Hands out a value in pieces until `body` returns `false`; `false` if there is none. All are of one value, since
    /// the statement that found it is under way until the end.
    func pieces(_ place: Int64, _ name: UnsafeRawBufferPointer, _ body: (RawSpan) -> Bool) throws -> Bool {
        let statement = try statement(.value)
        statement.bind(1, place)
        statement.bind(2, text: name)
        guard try statement.step() else { return false }
        guard statement.isNull(0) else {
            let content = statement.bytes(0)
            for start in stride(from: 0, to: content.count, by: Piece.size / 4) {
                let piece = content[start..<min(start + Piece.size / 4, content.count)]
                guard body(UnsafeRawBufferPointer(rebasing: piece).bytes) else { break }
            }
            return true
        }
        let size = statement.number(2)
        var count: Int64 = 0
        let isWhole = try forEachPiece(statement.number(1)) { piece in
            count += Int64(piece.count)
            return body(piece.bytes)
        }
        guard !isWhole || count == size else { throw damaged("a value of \(size) bytes has pieces of \(count)") }
        return true
    }

    /// Hands out a value that is in pieces.
    func gather(_ version: Int64, size: Int64, _ deliver: (RawSpan) -> Void) throws {
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
        deliver(UnsafeRawBufferPointer(buffer).bytes)
    }

    /// Whether `body` wanted them all.
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

    /// The mark of the last write of a value; `nil` if there is none.
    func version(_ place: Int64, _ name: UnsafeRawBufferPointer) throws -> Int64? {
        let statement = try statement(.version)
        statement.bind(1, place)
        statement.bind(2, text: name)
        return try statement.step() ? statement.number(0) : nil
    }

    /// What is known of a value; `nil` if there is none.
    func attributes(_ place: Int64, _ name: UnsafeRawBufferPointer) throws -> ValueAttributes? {
        let statement = try statement(.attributes)
        statement.bind(1, place)
        statement.bind(2, text: name)
        guard try statement.step() else { return nil }
        return ValueAttributes(
            contentType: statement.text(2), serializer: statement.text(3), versionTag: statement.text(4),
            appVersion: statement.text(5), owner: statement.text(6), size: UInt64(max(0, statement.number(1))),
            modified: statement.number(0))
    }
}
