internal import CLocalData
package import LocalDataAPI

/// A bulk change for a store, in the format of the boundary. Names and values are not copied: their memory must stay
/// valid until the changes are applied.
package final class BulkChangeList {
    private var changes: [ld_bulk_change] = []
    private var places: [UnsafeMutablePointer<ld_namespace>] = []
    private var attributes: [BoundaryAttributes] = []
    private var copies: [UnsafeMutableRawBufferPointer] = []
    private(set) var largestValue = 0
    /// Attributes of a value that is to expire, if there is one.
    private(set) var expiring: ValueAttributes?

    package init(capacity: Int) { changes.reserveCapacity(capacity) }

    deinit {
        for copy in copies { copy.deallocate() }
        for place in places { place.deallocate() }
    }

    /// What it changes.
    var addresses: [StorageAddress] {
        changes.map { change in
            func text(_ bytes: ld_bytes) -> String {
                String(decoding: UnsafeRawBufferPointer(start: bytes.data, count: bytes.count), as: UTF8.self)
            }
            guard let place = change.place?.pointee else {
                return StorageAddress(StorageNamespace(domain: ""), name: "")
            }
            let directory = text(place.directory)
            return StorageAddress(
                StorageNamespace(
                    domain: text(place.domain), scope: text(place.scope),
                    directory: directory.isEmpty ? nil : directory), name: text(change.name))
        }
    }

    /// The number of changes.
    package var count: Int { changes.count }

    /// Adds a namespace and returns its number in this list.
    package func add(_ place: StorageNamespace) -> Int {
        let pointer = UnsafeMutablePointer<ld_namespace>.allocate(capacity: 1)
        pointer.initialize(
            to: ld_namespace(
                size: UInt32(MemoryLayout<ld_namespace>.size), domain: keep(place.domain), scope: keep(place.scope),
                directory: keep(place.directory)))
        places.append(pointer)
        return places.count - 1
    }

    /// Adds attributes and returns their number in this list.
    package func add(_ given: ValueAttributes) -> Int {
        attributes.append(BoundaryAttributes(given))
        if given.expires != nil { expiring = given }
        return attributes.count - 1
    }

    /// Adds a change.
    ///
    /// - Parameter place: The number of a namespace, from ``add(_:)-(StorageNamespace)``.
    /// - Parameter value: `nil` removes the value.
    /// - Parameter attributes: The number of attributes, from ``add(_:)-(ValueAttributes)``.
    /// - Parameter expected: The mark that the value must have, 0 if there must be no value.
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

    /// Copies a name or a value into memory that stays valid as long as this list.
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
