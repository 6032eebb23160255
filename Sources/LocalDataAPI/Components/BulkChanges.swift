package import CLocalData
internal import Glibc

/// Changes of many values, lent to a ``BulkBackend`` for the time of a call.
public struct BulkChanges {
    /// What a change needs to find of a value when it is its turn.
    public enum Expectation: Equatable, Sendable {
        /// Whatever there is.
        case anything
        /// No value.
        case absence
        /// The value that has this mark.
        case mark(UInt64)
    }

    /// A change, but for its bytes.
    public struct Change {
        /// Where the value is: an index into ``BulkChanges/places``.
        public let place: Int
        /// What has to be there.
        public let expectation: Expectation
        /// What is kept beside the value.
        public let attributes: ValueAttributes?
    }

    /// The places of all changes.
    public let places: [StorageNamespace]
    private let changes: UnsafeBufferPointer<UnsafePointer<ld_bulk_change>?>
    private let numbers: [UnsafePointer<ld_namespace>?: Int]

    /// How many there are.
    public var count: Int { changes.count }

    /// - Throws: `invalidAddress` for a place that there cannot be.
    package init(_ changes: UnsafeBufferPointer<UnsafePointer<ld_bulk_change>?>) throws {
        self.changes = changes
        var (places, numbers) = ([StorageNamespace](), [UnsafePointer<ld_namespace>?: Int]())
        var last: UnsafePointer<ld_namespace>?
        for change in changes {
            guard let change else { throw StorageError(.unsupported, "a change at the plugin boundary is missing") }
            let place = change.pointee.place
            // Most changes are of the place of the one before.
            guard place != last || places.isEmpty else { continue }
            last = place
            guard numbers[place] == nil else { continue }
            numbers[place] = places.count
            places.append(try StorageNamespace(place))
        }
        (self.places, self.numbers) = (places, numbers)
    }

    /// Hands out each change with the bytes of its name and of its value, which is `nil` if it is to be removed. The
    /// bytes stay where they are until the call that brought the changes returns.
    ///
    /// - Throws: `invalidAddress` for a name that there cannot be, and what `body` throws.
    public func forEach(
        _ body: (_ index: Int, _ change: Change, _ name: RawSpan, _ value: RawSpan?) throws -> Void
    ) throws {
        var attributes: (pointer: UnsafePointer<ld_attributes>, value: ValueAttributes)?
        var place: (pointer: UnsafePointer<ld_namespace>?, number: Int) = (nil, 0)
        for (index, pointer) in changes.enumerated() {
            guard let change = pointer?.pointee else { continue }
            if change.place != place.pointer { place = (change.place, numbers[change.place] ?? 0) }
            if let pointer = change.attributes, pointer != attributes?.pointer {
                attributes = (pointer, try ValueAttributes(pointer))
            }
            try StorageAddress.validate(name: change.name, in: places[place.number])
            let expectation: Expectation =
                change.flags & LD_BULK_EXPECT == 0 ? .anything : change.mark == 0 ? .absence : .mark(change.mark)
            let isRemoval = change.flags & LD_BULK_REMOVE != 0
            try body(
                index,
                Change(
                    place: place.number, expectation: expectation,
                    attributes: change.attributes == nil ? nil : attributes?.value),
                change.name.bytes().bytes, isRemoval ? nil : change.value.bytes().bytes)
        }
    }
}

extension StorageAddress {
    /// Throws `invalidAddress` unless a name keeps the limits that every store can rely on.
    fileprivate static func validate(name: ld_bytes, in place: StorageNamespace) throws {
        let bytes = try name.bytes()
        if let start = bytes.baseAddress, !bytes.isEmpty, bytes.count <= longestName,
            memchr(start, 0, bytes.count) == nil,
            (try? UTF8Span(validating: bytes.bindMemory(to: UInt8.self).span)) != nil
        {
            return
        }
        guard let text = name.text else {
            throw StorageError(.invalidAddress, "a name in '\(place)' at the plugin boundary is not UTF-8")
        }
        try StorageAddress(place, name: text).validate()
    }
}
