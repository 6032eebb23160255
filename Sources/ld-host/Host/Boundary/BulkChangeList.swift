internal import CLocalData
package import LocalDataAPI

/// Changes of many values on their way to a store, in the form in which they cross the boundary. Names and values are
/// not copied: they have to stay where they are until the changes are applied.
package final class BulkChangeList {
    private var changes: [ld_bulk_change] = []
    private var places: [UnsafeMutablePointer<ld_namespace>] = []
    private var attributes: [BoundaryAttributes] = []
    private var copies: [UnsafeMutableRawBufferPointer] = []
    private(set) var largestValue = 0

    package init(capacity: Int) { changes.reserveCapacity(capacity) }

    deinit {
        for copy in copies { copy.deallocate() }
        for place in places { place.deallocate() }
    }

    /// How many there are.
    package var count: Int { changes.count }

    /// Adds a place, and gives its number in this list.
    package func add(_ place: StorageNamespace) -> Int {
        let pointer = UnsafeMutablePointer<ld_namespace>.allocate(capacity: 1)
        pointer.initialize(
            to: ld_namespace(
                size: UInt32(MemoryLayout<ld_namespace>.size), domain: keep(place.domain), scope: keep(place.scope),
                directory: keep(place.directory)))
        places.append(pointer)
        return places.count - 1
    }

    /// Adds what is kept beside values, and gives its number in this list.
    package func add(_ given: ValueAttributes) -> Int {
        attributes.append(BoundaryAttributes(given))
        return attributes.count - 1
    }

    /// Adds a change.
    ///
    /// - Parameter place: A number of ``add(_:)-(StorageNamespace)``.
    /// - Parameter value: `nil` removes the value.
    /// - Parameter attributes: A number of ``add(_:)-(ValueAttributes)``.
    /// - Parameter expected: The mark that the value has to have, 0 if there has to be none.
    package func add(
        _ place: Int, _ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer?, attributes: Int? = nil,
        expected: UInt64? = nil
    ) {
        let flags = (value == nil ? LD_BULK_REMOVE : 0) | (expected == nil ? 0 : LD_BULK_EXPECT)
        changes.append(
            ld_bulk_change(
                size: UInt32(MemoryLayout<ld_bulk_change>.size), flags: flags, place: places[place],
                name: ld_bytes(name),
                value: value.map { ld_bytes($0) } ?? ld_bytes(),
                attributes: attributes.map { self.attributes[$0].pointer }, mark: expected ?? 0))
        largestValue = max(largestValue, value?.count ?? 0)
    }

    func withPointers<Result>(_ body: (UnsafeBufferPointer<UnsafePointer<ld_bulk_change>?>) -> Result) -> Result {
        changes.withUnsafeBufferPointer { changes in
            let pointers = (0..<changes.count).map { index in changes.baseAddress.map { $0 + index } }
            return pointers.withUnsafeBufferPointer { body($0) }
        }
    }

    /// A copy of a name or a value that stays until the list goes.
    package func keep(_ bytes: some Collection<UInt8>) -> UnsafeRawBufferPointer {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        copy.copyBytes(from: bytes)
        copies.append(copy)
        return UnsafeRawBufferPointer(copy)
    }

    private func keep(_ text: String?) -> ld_bytes {
        guard let text, !text.isEmpty else { return ld_bytes() }
        return ld_bytes(keep(text.utf8))
    }
}
