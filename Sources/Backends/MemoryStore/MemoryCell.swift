internal import FoundationEssentials
internal import LocalDataPluginAPI
internal import Synchronization

/// The cell of one value. Cells have their own locks, so that different keys never wait for each other.
final class MemoryCell: Sendable {
    /// A value with its attributes; an object, so that a reader takes one reference and releases the lock.
    final class Value: Sendable {
        let data: Data
        let attributes: ValueAttributes
        /// In nanoseconds since 1970 UTC; the largest number if it never expires.
        let expires: Int64

        init(data: Data, attributes: ValueAttributes?) {
            self.data = data
            var attributes = attributes ?? ValueAttributes()
            attributes.size = UInt64(data.count)
            attributes.modified = Moment.now
            self.attributes = attributes
            expires = attributes.expires ?? .max
        }

        /// Whether its time is over.
        var isExpired: Bool { expires != .max && expires <= Moment.now }
    }

    private struct Content {
        var value: Value?
        /// Of the value, or of the last one.
        var revision: UInt64

        /// Whether a value is there that has not expired.
        var isPresent: Bool { value.map { !$0.isExpired } ?? false }
    }

    let address: StorageAddress
    private let content: Mutex<Content>
    /// Keeps the locks of two cells on separate cache lines: otherwise readers of different keys could slow each other
    /// down, depending on the cells' addresses.
    private let padding = InlineArray<16, UInt64>(repeating: 0)

    init(_ address: StorageAddress, firstRevision: UInt64) {
        self.address = address
        content = Mutex(Content(value: nil, revision: firstRevision))
    }

    /// The current value.
    ///
    /// - Throws: `ValueExpired`.
    var value: Value? {
        get throws {
            guard let value = content.withLock({ $0.value }) else { return nil }
            if value.isExpired { throw ValueExpired() }
            return value
        }
    }

    /// The current value and its revision.
    ///
    /// - Throws: `ValueExpired`.
    var revisioned: (value: Value, revision: UInt64)? {
        get throws {
            let content = content.withLock { $0 }
            guard let value = content.value else { return nil }
            if value.isExpired { throw ValueExpired() }
            return (value, content.revision)
        }
    }

    /// Whether a value is there that has not expired.
    var isPresent: Bool { content.withLock { $0.isPresent } }

    /// Whether nothing is there, not even an expired value.
    var isEmpty: Bool { content.withLock { $0.value == nil } }

    /// Whether its value has a time to expire.
    var expires: Bool { content.withLock { $0.value.map { $0.expires != .max } ?? false } }

    /// Replaces or removes the value, if it fulfils a condition.
    ///
    /// - Returns: Whether there was one, and the new revision; `nil` if it does not.
    func replace(with value: Value?, if condition: WriteCondition) -> (hadValue: Bool, revision: UInt64)? {
        content.withLock { content in
            let hadValue = content.isPresent
            guard condition.isFulfilled(by: hadValue ? content.revision : nil) else { return nil }
            content.value = value
            content.revision &+= 1
            if content.revision == 0 { content.revision = 1 }
            return (hadValue, content.revision)
        }
    }

    /// Removes the value if it has expired; returns whether it has.
    func discard() -> Bool {
        content.withLock { content in
            guard content.value?.isExpired ?? false else { return false }
            content.value = nil
            content.revision &+= 1
            return true
        }
    }
}
