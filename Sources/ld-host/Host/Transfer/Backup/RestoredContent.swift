internal import ByteCoding
internal import FoundationEssentials
internal import Glibc
internal import HostGround
internal import HostPlugins
internal import HostSealing
internal import HostStores
internal import LocalDataAPI

/// The bytes of a backup's current value as the stores are to have them. An envelope that only a key of the backup
/// opens is opened, to be sealed again under a key of this user. Memory is bounded by some chunks. Used by one thread
/// at a time.
final class RestoredContent {
    /// The header of an envelope at the start; not authentic before the value was read to its end.
    let header: EnvelopeHeader?
    /// Whether the envelope is opened.
    var isOpened: Bool { opener != nil }
    /// Whether it has turned out that it cannot be opened: its bytes were changed, or it is of another address.
    private(set) var isRefused = false
    /// The hash of the bytes in the file, as far as they were read; only of a value that is opened.
    private(set) var hash = StableHash.start

    private let reader: BackupReader
    private let opener: EnvelopeOpener?
    /// The first bytes of the value, those in `rest` not yet passed on.
    private let start: UnsafeMutableRawBufferPointer
    private var rest: Range<Int>
    /// Sealed bytes, then opened ones, those in `ready` not yet passed on.
    private let piece: UnsafeMutableRawBufferPointer
    private let plain: UnsafeMutableRawBufferPointer
    private var ready = 0..<0
    private var isAtEnd = false

    private static let pieceSize = 64 << 10

    /// - Parameter open: An opener for an envelope with a header; `nil` to leave it as it is.
    init(
        _ reader: BackupReader, _ open: (EnvelopeHeader) throws(StorageError) -> EnvelopeOpener?
    ) throws(StorageError) {
        self.reader = reader
        start = .allocate(byteCount: EnvelopeHeader.largestSize, alignment: 64)
        var count = 0
        var failure: StorageError?
        var found: EnvelopeHeader?
        var opener: EnvelopeOpener?
        do throws(StorageError) {
            while count < start.count {
                let more = try reader.read(into: UnsafeMutableRawBufferPointer(rebasing: start[count...]))
                guard more > 0 else { break }
                count += more
            }
            let bytes = UnsafeRawBufferPointer(rebasing: start[..<count])
            if bytes.starts(with: EnvelopeHeader.magic) { found = try? EnvelopeHeader(parsing: bytes) }
            if let found { opener = try open(found) }
        } catch { failure = error }
        if opener != nil { StableHash.add(UnsafeRawBufferPointer(rebasing: start[..<count]), to: &hash) }
        header = found
        self.opener = opener
        rest = 0..<count
        piece = .allocate(byteCount: opener == nil ? 0 : Self.pieceSize, alignment: 64)
        // One piece ends at most the chunk before it and those in it; the end of the value one more.
        let chunk = found?.chunkSize ?? 0
        plain = .allocate(byteCount: opener == nil ? 0 : Self.pieceSize + 2 * chunk, alignment: 64)
        if let failure { throw failure }
    }

    deinit {
        for memory in [start, piece, plain] {
            clear(memory)
            memory.deallocate()
        }
    }

    /// Fills a buffer with the next bytes; 0 at the end, and from where an envelope cannot be opened.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(StorageError) -> Int {
        guard opener != nil else { return try stored(into: buffer) }
        guard try hasMore() else { return 0 }
        let part = ready.prefix(buffer.count)
        MemorySecrecy.copy(UnsafeRawBufferPointer(rebasing: plain[part]), to: buffer)
        ready = ready.dropFirst(part.count)
        return part.count
    }

    /// Reads to the end of the value.
    ///
    /// - Returns: Whether it could be opened, if that was to be done.
    func finish() throws(StorageError) -> Bool {
        while opener != nil, try hasMore() { ready = 0..<0 }
        while try stored(into: piece.isEmpty ? start : piece) > 0 {}
        return !isRefused
    }

    /// The value, or as much of it as its size exceeds.
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

    /// Fills a buffer with the next bytes in the file.
    private func stored(into buffer: UnsafeMutableRawBufferPointer) throws(StorageError) -> Int {
        guard rest.isEmpty else {
            let part = rest.prefix(buffer.count)
            MemorySecrecy.copy(UnsafeRawBufferPointer(rebasing: start[part]), to: buffer)
            rest = rest.dropFirst(part.count)
            return part.count
        }
        let count = try reader.read(into: buffer)
        if opener != nil { StableHash.add(UnsafeRawBufferPointer(rebasing: buffer[..<count]), to: &hash) }
        return count
    }

    /// Opens the next bytes; `false` at the end.
    private func hasMore() throws(StorageError) -> Bool {
        while ready.isEmpty, !isAtEnd, let opener {
            let count = try stored(into: piece)
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
                } else if try !opener.take(UnsafeRawBufferPointer(rebasing: piece[..<count]), keep) {
                    (isRefused, isAtEnd) = (true, true)
                }
            } catch {
                guard error.isOfOneValue else { throw error }
                (isRefused, isAtEnd) = (true, true)
            }
            ready = isRefused ? 0..<0 : 0..<end
        }
        return !ready.isEmpty
    }
}
