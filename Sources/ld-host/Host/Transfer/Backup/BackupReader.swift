internal import FoundationEssentials
internal import Glibc
internal import HostGround
internal import HostPlugins
internal import HostSealing
internal import LocalDataAPI

/// Reads a backup from its start to its end. Everything that it returns is authentic. Memory is bounded by some chunks.
/// Used by one thread at a time.
final class BackupReader {
    private let file: BackupFile
    private let opener: EnvelopeOpener
    /// How far the file is read.
    private var offset = BackupFormat.start.count
    private let sealed: UnsafeMutableRawBufferPointer
    /// Opened bytes, those in `ready` not yet returned.
    private let plain: UnsafeMutableRawBufferPointer
    private var ready = 0..<0
    private var isAtEnd = false
    /// The rest of the current piece of a value; `nil` if no value is being read.
    private var piece: Int?
    /// How many values have begun, and their bytes so far.
    private(set) var count: UInt64 = 0
    private(set) var bytes: UInt64 = 0
    private var last: [UInt8] = []

    /// - Throws: As ``BackupFile/header(_:)``.
    init(_ file: BackupFile, _ crypto: LoadedCrypto, key: EnvelopeKey) throws(StorageError) {
        self.file = file
        _ = try file.header(crypto)
        opener = EnvelopeOpener(BackupFormat.envelope(crypto)) { _ in key }
        sealed = .allocate(byteCount: 1 << BackupFormat.chunkExponent, alignment: 64)
        // One piece of the file ends at most the chunk before it and those in it; the end of the file one more.
        plain = .allocate(byteCount: 4 << BackupFormat.chunkExponent, alignment: 64)
    }

    deinit {
        clear(plain)
        plain.deallocate()
        sealed.deallocate()
    }

    /// The salt of the envelope, which no other backup has.
    var salt: Data? { opener.parsedHeader?.salt }

    /// The first record.
    ///
    /// - Throws: `cannotOpen` for a wrong passphrase; `corrupt` if it is not a manifest.
    func manifest() throws(StorageError) -> BackupManifest {
        guard case .manifest(let manifest) = try record() else { throw damaged("it does not begin with a manifest") }
        return manifest
    }

    /// The next value, whatever was read of the one before; `nil` at the end.
    ///
    /// - Throws: `corrupt` unless the values are in order, and as many as the end says.
    func next() throws(StorageError) -> BackupItem? {
        while piece != nil { _ = try read(into: UnsafeMutableRawBufferPointer?.none, atMost: .max) }
        switch try record() {
        case .manifest: throw damaged("it has two manifests")
        case .item(let item):
            let order = item.order
            guard last.lexicographicallyPrecedes(order) else {
                throw damaged("\(item.description) is out of order")
            }
            last = order
            count += 1
            piece = 0
            return item
        case .end(let count, let bytes):
            guard count == self.count, bytes == self.bytes, try !hasMore() else {
                throw damaged(
                    "it has \(self.count) values of \(self.bytes) bytes, and its end says \(count) of \(bytes)")
            }
            return nil
        }
    }

    /// Fills a buffer with the next bytes of the current value; 0 at its end.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(StorageError) -> Int {
        try read(into: buffer, atMost: buffer.count)
    }

    private func read(
        into buffer: UnsafeMutableRawBufferPointer?, atMost most: Int
    ) throws(StorageError) -> Int {
        guard var left = piece, most > 0 else { return 0 }
        if left == 0 {
            left = try number()
            guard left > 0 else {
                piece = nil
                return 0
            }
        }
        guard try hasMore() else { throw damaged("it ends in the middle of a value") }
        let size = min(left, most, ready.count)
        if let buffer {
            MemorySecrecy.copy(UnsafeRawBufferPointer(rebasing: plain[ready.prefix(size)]), to: buffer)
        }
        ready = ready.dropFirst(size)
        piece = left - size
        bytes += UInt64(size)
        return size
    }

    /// The current value, or as much of it as its size exceeds.
    ///
    /// - Returns: The bytes, to be cleared by the caller, and whether they are all; if not, ``read(into:)`` continues.
    func gather(atMost most: UInt64) throws(StorageError) -> (data: Data, isWhole: Bool) {
        var gathered = GatheredBytes()
        var isWhole = false
        while !isWhole, gathered.bytes.count <= most {
            do { isWhole = try !gathered.add(from: { try read(into: $0) }) } catch {
                throw StorageError(wrapping: error)
            }
        }
        let bytes = gathered.bytes
        return (filled(bytes.count) { MemorySecrecy.copy(bytes, to: $0) }.data, isWhole)
    }

    private func record() throws(StorageError) -> BackupRecord {
        let type = try take(1)[0]
        let size = try number()
        guard size <= BackupRecord.largest, let record = BackupRecord(type: type, fields: try take(size)) else {
            throw damaged("it has an invalid record of the type \(type)")
        }
        return record
    }

    private func number() throws(StorageError) -> Int { try take(4).reduce(0) { $0 << 8 | Int($1) } }

    private func take(_ count: Int) throws(StorageError) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            guard try hasMore() else { throw damaged("it ends too early") }
            let part = ready.prefix(count - bytes.count)
            bytes += plain[part]
            ready = ready.dropFirst(part.count)
        }
        return bytes
    }

    private func hasMore() throws(StorageError) -> Bool { ready.isEmpty ? try refill() : true }

    /// Opens the next bytes of the file; `false` at its end.
    private func refill() throws(StorageError) -> Bool {
        while ready.isEmpty, !isAtEnd {
            let count = try file.read(at: offset, into: sealed)
            var end = 0
            let plain = plain
            func keep(_ opened: UnsafeRawBufferPointer) -> Bool {
                guard opened.count <= plain.count - end else { return false }
                MemorySecrecy.copy(opened, to: UnsafeMutableRawBufferPointer(rebasing: plain[end...]))
                end += opened.count
                return true
            }
            do throws(StorageError) {
                if count == 0 {
                    try opener.finish(keep)
                    isAtEnd = true
                } else {
                    offset += count
                    guard try opener.take(UnsafeRawBufferPointer(rebasing: sealed[..<count]), keep) else {
                        throw StorageError(.cannotOpen)
                    }
                }
            } catch {
                throw refusal(error)
            }
            ready = 0..<end
        }
        return !ready.isEmpty
    }

    private func refusal(_ error: StorageError) -> StorageError {
        guard error.code == .cannotOpen else { return error }
        guard opener.parsedHeader != nil else {
            return StorageError(
                .cannotOpen,
                "the passphrase does not open the backup '\(file.path)', or the header of the file was changed",
                hint: "give the passphrase that it was made with; nothing was changed")
        }
        return damaged("it was changed or cut off, at or before byte \(offset)")
    }

    /// The error for a backup that cannot be used.
    func damaged(_ finding: String) -> StorageError {
        StorageError(.corrupt, "the backup '\(file.path)' is damaged: \(finding)", hint: BackupFile.another)
    }
}
