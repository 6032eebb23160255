internal import DurableFiles
internal import HostSealing
internal import LocalDataAPI

/// Writes the records of a backup.
final class BackupWriter {
    private let sealer: EnvelopeSealer
    /// The bytes of all records so far.
    private(set) var total = 0
    private var count: UInt64 = 0
    private(set) var bytes: UInt64 = 0

    init(_ sealer: EnvelopeSealer) { self.sealer = sealer }

    func begin(_ manifest: BackupManifest) throws { try take(BackupRecord.manifest(manifest).encoded) }

    /// Writes a value whose pieces `pieces` passes on.
    func add(_ item: BackupItem, _ pieces: (_ take: (UnsafeRawBufferPointer) throws -> Void) throws -> Void) throws {
        count += 1
        try take(BackupRecord.item(item).encoded)
        try pieces { piece in
            if piece.isEmpty { return }
            try take(Self.size(piece.count))
            try take(piece)
            bytes += UInt64(piece.count)
        }
        try take(Self.size(0))
    }

    func end() throws { try take(BackupRecord.end(count: count, bytes: bytes).encoded) }

    private func take(_ bytes: [UInt8]) throws { try bytes.withUnsafeBytes { try take($0) } }

    private func take(_ piece: UnsafeRawBufferPointer) throws {
        total += piece.count
        try sealer.take(piece)
    }

    private static func size(_ count: Int) throws -> [UInt8] {
        guard let size = UInt32(exactly: count) else {
            throw StorageError(.valueTooLarge, "a store passed a piece of \(count) bytes; expected fewer than 2^32")
        }
        return withUnsafeBytes(of: size.bigEndian) { Array($0) }
    }
}
