internal import Glibc
internal import LocalDataAPI
internal import Synchronization

/// Carries pieces from a thread that hands them out to one that asks for them, one piece at a time. The memory between
/// them is cleared at the end.
final class PiecePipe: @unchecked Sendable {
    // The buffer is the writer's until it signals `filled`, and the reader's until it signals `taken`.
    private let buffer: UnsafeMutableRawBufferPointer
    private let filled = IdleSemaphore()
    private let taken = IdleSemaphore()
    private var piece: Range<Int> = 0..<0
    private var end: Result<Void, StorageError>?
    private let isClosed = Atomic<Bool>(false)

    init() throws(StorageError) {
        buffer = .allocate(byteCount: 1 << 20, alignment: 64)
    }

    deinit {
        clear(buffer)
        buffer.deallocate()
    }

    /// Hands a piece over and waits until it is taken; `false` if nobody asks any more.
    func write(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            if isClosed.load(ordering: .acquiring) { return false }
            let part = UnsafeRawBufferPointer(rebasing: rest.prefix(buffer.count))
            buffer.copyMemory(from: part)
            piece = 0..<part.count
            rest = rest.dropFirst(part.count)
            filled.signal()
            taken.waitForever()
        }
        return !isClosed.load(ordering: .acquiring)
    }

    /// Says that no more comes, and why if it should have.
    func finish(_ failure: StorageError?) {
        end = failure.map { .failure($0) } ?? .success(())
        filled.signal()
    }

    /// Fills a buffer; 0 at the end.
    func read(into target: UnsafeMutableRawBufferPointer) throws(StorageError) -> Int {
        if piece.isEmpty {
            if end == nil { filled.waitForever() }
            if let end {
                try end.get()
                return 0
            }
        }
        let count = min(piece.count, target.count)
        target.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[piece.prefix(count)]))
        piece = piece.dropFirst(count)
        if piece.isEmpty { taken.signal() }
        return count
    }

    /// Asks for no more; a writer that waits goes on.
    func close() {
        isClosed.store(true, ordering: .releasing)
        taken.signal()
    }
}
