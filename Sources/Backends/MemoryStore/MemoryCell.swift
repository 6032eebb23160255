internal import FoundationEssentials
internal import Glibc
internal import LocalDataAPI
internal import Synchronization

/// The cell of one value. Cells have their own locks, so that different keys never wait for each other.
final class MemoryCell: Sendable {
    /// A value with its attributes; an object, so that a reader takes one reference and releases the lock.
    final class Value: Sendable {
        let data: Data
        let attributes: ValueAttributes

        init(data: Data, attributes: ValueAttributes?) {
            self.data = data
            var attributes = attributes ?? ValueAttributes()
            attributes.size = UInt64(data.count)
            attributes.modified = Self.now
            self.attributes = attributes
        }

        private static var now: Int64 {
            var time = timespec()
            clock_gettime(CLOCK_REALTIME, &time)
            return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
        }
    }

    let address: StorageAddress
    private let content = Mutex<Value?>(nil)
    /// Keeps the locks of two cells on separate cache lines: otherwise readers of different keys could slow each other
    /// down, depending on the cells' addresses.
    private let padding = InlineArray<16, UInt64>(repeating: 0)

    init(_ address: StorageAddress) { self.address = address }

    /// The current value.
    var value: Value? { content.withLock { $0 } }

    /// Replaces the value; returns whether there was one.
    @discardableResult
    func replace(with value: Value?) -> Bool {
        content.withLock { content in
            defer { content = value }
            return content != nil
        }
    }
}
