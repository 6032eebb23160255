internal import CLocalData
internal import FoundationEssentials
internal import HostPlugins
internal import LocalDataAPI

/// Changes in memory that is lent to a component for one call.
enum LentChanges {
    static func lend<Result>(
        _ changes: [BoundaryChange],
        _ body: (UnsafePointer<UnsafePointer<ld_bulk_change>?>?, Int) throws -> Result
    ) rethrows -> Result {
        var texts: [UnsafeMutableRawBufferPointer] = []
        func lend(_ bytes: some Collection<UInt8>) -> ld_bytes {
            let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, bytes.count), alignment: 1)
            memory.copyBytes(from: bytes)
            texts.append(memory)
            return ld_bytes(data: memory.baseAddress, count: bytes.count)
        }
        var places: [StorageNamespace: UnsafeMutablePointer<ld_namespace>] = [:]
        func lend(_ place: StorageNamespace) -> UnsafePointer<ld_namespace> {
            if let known = places[place] { return UnsafePointer(known) }
            let lent = UnsafeMutablePointer<ld_namespace>.allocate(capacity: 1)
            lent.initialize(
                to: ld_namespace(
                    size: UInt32(MemoryLayout<ld_namespace>.size), domain: lend(place.domain.utf8),
                    scope: lend(place.scope.utf8), directory: lend((place.directory ?? "").utf8)))
            places[place] = lent
            return UnsafePointer(lent)
        }
        let attributes = changes.map { LentAttributes($0.attributes) }
        let structs = UnsafeMutableBufferPointer<ld_bulk_change>.allocate(capacity: max(1, changes.count))
        let pointers = UnsafeMutableBufferPointer<UnsafePointer<ld_bulk_change>?>.allocate(
            capacity: max(1, changes.count))
        defer {
            for text in texts { text.deallocate() }
            for place in places.values { place.deallocate() }
            for lent in attributes { lent.free() }
            structs.deallocate()
            pointers.deallocate()
        }
        for (index, change) in changes.enumerated() {
            let flags = (change.value == nil ? LD_BULK_REMOVE : 0) | (change.mark == nil ? 0 : LD_BULK_EXPECT)
            structs.initializeElement(
                at: index,
                to: ld_bulk_change(
                    size: UInt32(MemoryLayout<ld_bulk_change>.size), flags: flags, place: lend(change.address.place),
                    name: lend(change.address.name.utf8), value: lend(change.value ?? Data()),
                    attributes: attributes[index].pointer, mark: change.mark ?? 0))
            pointers.initializeElement(at: index, to: structs.baseAddress.map { UnsafePointer($0 + index) })
        }
        return try body(pointers.baseAddress.map { UnsafePointer($0) }, changes.count)
    }
}
