package import CLocalData

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// Changes of many values, lent to a ``BulkBackend`` for the duration of a call.
public struct BulkChanges {
    /// A change without its bytes.
    public struct Change {
        /// The value's namespace: an index into ``BulkChanges/places``.
        public let place: Int
        /// What the change requires of the stored value.
        public let condition: WriteCondition
        /// The value's new attributes.
        public let attributes: ValueAttributes?
    }

    /// The namespaces of all changes.
    public let places: [StorageNamespace]
    private let changes: UnsafeBufferPointer<UnsafePointer<ld_bulk_change>?>
    private let numbers: [UnsafePointer<ld_namespace>?: Int]

    /// The number of changes.
    public var count: Int { changes.count }

    /// - Throws: `invalidAddress` if a namespace exceeds the limits that every store can rely on.
    package init(_ changes: UnsafeBufferPointer<UnsafePointer<ld_bulk_change>?>) throws {
        self.changes = changes
        var (places, numbers) = ([StorageNamespace](), [UnsafePointer<ld_namespace>?: Int]())
        var last: UnsafePointer<ld_namespace>?
        for change in changes {
            guard let change else { throw StorageError(.unsupported, "a change at the plugin boundary is missing") }
            guard change.pointee.flags & ~(LD_BULK_REMOVE | LD_BULK_EXPECT) == 0 else {
                throw StorageError(
                    .unsupported, "a change at the plugin boundary has the unknown flags \(change.pointee.flags)")
            }
            let place = change.pointee.place
            // Most changes are in the same namespace as the one before.
            guard place != last || places.isEmpty else { continue }
            last = place
            guard numbers[place] == nil else { continue }
            numbers[place] = places.count
            places.append(try StorageNamespace(place))
        }
        (self.places, self.numbers) = (places, numbers)
    }

    /// Passes each change to `body` with the bytes of its name and of its value, which is `nil` to remove the value.
    /// The bytes stay valid until the call that lent the changes returns.
    ///
    /// - Throws: `invalidAddress` for an invalid name, and what `body` throws.
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
            let condition: WriteCondition =
                change.flags & LD_BULK_EXPECT == 0 ? .anything : change.mark == 0 ? .absent : .revision(change.mark)
            let isRemoval = change.flags & LD_BULK_REMOVE != 0
            try body(
                index,
                Change(
                    place: place.number, condition: condition,
                    attributes: change.attributes == nil ? nil : attributes?.value),
                change.name.bytes().bytes, isRemoval ? nil : change.value.bytes().bytes)
        }
    }
}

extension StorageAddress {
    /// Throws `invalidAddress` unless the name keeps the limits that every store can rely on.
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
