internal import Glibc
internal import HostGround
internal import HostPlugins
internal import LocalDataAPI
internal import Synchronization

/// Carries pieces from a thread that produces them to one that reads them, one piece at a time. Its buffer is cleared
/// at the end.
final class PiecePipe: @unchecked Sendable {
    // Buffer, `offered` and `end` belong to the writer until it signals `filled`, and to the reader until it signals
    // `taken`.
    private let buffer: UnsafeMutableRawBufferPointer
    private let filled = IdleSemaphore()
    private let taken = IdleSemaphore()
    private let ended = IdleSemaphore()
    private var offered = 0
    private var end: Result<Void, StorageError>?
    /// The reader's own: the part of the piece that it has yet to return.
    private var rest: Range<Int> = 0..<0
    private var isAtEnd = false
    private let isClosed = Atomic<Bool>(false)

    /// - Parameter size: The expected number of bytes, if known.
    init(size: Int?) { buffer = .allocate(byteCount: min(max(size ?? 1 << 18, 1), 1 << 20), alignment: 64) }

    deinit {
        clear(buffer)
        buffer.deallocate()
    }

    /// Offers a piece and waits until it is taken; `false` if the reader has closed the pipe.
    func write(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var bytes = bytes[...]
        while !bytes.isEmpty {
            if isClosed.load(ordering: .acquiring) { return false }
            let part = UnsafeRawBufferPointer(rebasing: bytes.prefix(buffer.count))
            MemorySecrecy.copy(part, to: buffer)
            offered = part.count
            bytes = bytes.dropFirst(part.count)
            filled.signal()
            taken.waitForever()
        }
        return !isClosed.load(ordering: .acquiring)
    }

    /// Announces the end, or the failure that caused it.
    func finish(_ failure: StorageError?) {
        end = failure.map { .failure($0) } ?? .success(())
        filled.signal()
        ended.signal()
    }

    /// Fills a buffer; returns 0 at the end.
    func read(into target: UnsafeMutableRawBufferPointer) throws(StorageError) -> Int {
        if rest.isEmpty, !isAtEnd {
            filled.waitForever()
            if end == nil { rest = 0..<offered } else { isAtEnd = true }
        }
        if isAtEnd {
            try end?.get()
            return 0
        }
        let count = min(rest.count, target.count)
        MemorySecrecy.copy(UnsafeRawBufferPointer(rebasing: buffer[rest.prefix(count)]), to: target)
        rest = rest.dropFirst(count)
        if rest.isEmpty { taken.signal() }
        return count
    }

    /// Closes the pipe, and waits until the writer has finished its current read.
    func close() {
        isClosed.store(true, ordering: .releasing)
        taken.signal()
        ended.waitForever()
    }
}
