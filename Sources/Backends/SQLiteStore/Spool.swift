import DurableFiles
import Glibc
import LocalDataPluginAPI

/// Collects a value that arrives in pieces: in memory up to the size of one piece, beyond that in an unnamed file.
final class Spool {
    /// Checksum and number of the bytes.
    private(set) var checksum = Checksum()
    private let database: DatabaseFile
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: ValueRows.size, alignment: 4096)
    private var filled = 0
    private var file: UnnamedFile?

    /// The number of bytes.
    var count: Int { checksum.count }

    /// A value for a database.
    init(for database: DatabaseFile) { self.database = database }

    deinit {
        // It may be part of a secret.
        if let start = buffer.baseAddress { explicit_bzero(start, buffer.count) }
        buffer.deallocate()
    }

    /// The whole value, if it is in memory.
    var content: UnsafeRawBufferPointer? {
        file == nil ? UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<filled]) : nil
    }

    /// Adds the next bytes.
    func append(_ piece: RawSpan) throws {
        try piece.withUnsafeBytes { bytes in
            checksum.add(bytes)
            var rest = bytes[...]
            while !rest.isEmpty {
                if filled == buffer.count { try flush() }
                let part = rest.prefix(buffer.count - filled)
                UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: part))
                filled += part.count
                rest = rest.dropFirst(part.count)
            }
        }
    }

    /// Ends the value.
    func finish() throws { if file != nil { try flush() } }

    /// Passes a value that is in the file, in pieces of our size.
    func forEachPiece(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        var start = 0
        while start < count {
            let size = min(buffer.count, count - start)
            let part = UnsafeMutableRawBufferPointer(rebasing: buffer[..<size])
            guard try file?.read(at: start, into: part) == size else {
                throw StorageError(.fileError, "a file beside '\(database.path)' has lost its content")
            }
            try body(UnsafeRawBufferPointer(part))
            start += size
        }
    }

    private func flush() throws {
        if file == nil { file = try database.spool() }
        try file?.write(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<filled]))
        filled = 0
    }
}
