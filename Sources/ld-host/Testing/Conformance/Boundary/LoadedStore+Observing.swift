internal import CLocalData
internal import FoundationEssentials
internal import HostPlugins
internal import LocalDataAPI

/// The store's functions as a C caller uses them, without checks or corrections by the host.
extension LoadedStore {
    func observeGet(
        _ handle: StoreHandle, taking take: @escaping (Data) throws -> Bool = { _ in true }
    ) -> Observation {
        Observation(taking: take) { table.get(table.`self`, handle.pointer, $0, $1) }
    }

    /// Resolves an address in the structs of a later host: larger than they are today, with members at the end that
    /// nobody knows.
    func resolve(_ name: String, inLater place: StorageNamespace) throws -> StoreHandle {
        var pointer: UnsafeMutableRawPointer?
        try Observation { _, error in
            place.withBoundary { place in
                name.withBytes { name in
                    var place = LaterStruct(known: place.pointee)
                    place.known.size = UInt32(MemoryLayout<LaterStruct<ld_namespace>>.size)
                    return withUnsafePointer(to: &place) { place in
                        let known = UnsafeRawPointer(place).assumingMemoryBound(to: ld_namespace.self)
                        var address = LaterStruct(
                            known: ld_address(
                                size: UInt32(MemoryLayout<LaterStruct<ld_address>>.size), place: known, name: name))
                        return withUnsafePointer(to: &address) { address in
                            table.resolve(
                                table.`self`, UnsafeRawPointer(address).assumingMemoryBound(to: ld_address.self),
                                &pointer, error)
                        }
                    }
                }
            }
        }.succeeded()
        return StoreHandle(StorageAddress(place, name: name), pointer: pointer)
    }

    func observeExists(_ handle: StoreHandle) -> Observation {
        Observation { table.exists(table.`self`, handle.pointer, $1) }
    }

    func observeSet(_ handle: StoreHandle, to value: UnsafeRawBufferPointer) -> Observation {
        Observation { _, error in
            table.set(table.`self`, handle.pointer, ld_bytes(data: value.baseAddress, count: value.count), nil, error)
        }
    }

    func observeRemove(_ handle: StoreHandle) -> Observation {
        Observation { table.remove(table.`self`, handle.pointer, $1) }
    }

    /// Lists the names of a namespace.
    func observeNames(
        in place: StorageNamespace, taking take: @escaping (Data) throws -> Bool
    ) throws -> Observation {
        guard let enumeration = abilities.enumeration else {
            throw StorageError(.unsupported, "the store does not list names")
        }
        return Observation(taking: take) { sink, error in
            place.domain.withBytes { domain in
                place.scope.withBytes { scope in
                    var place = ld_namespace(
                        size: UInt32(MemoryLayout<ld_namespace>.size), domain: domain, scope: scope,
                        directory: ld_bytes())
                    return enumeration.names(table.`self`, &place, ld_bytes(), ld_bytes(), 0, sink, error)
                }
            }
        }
    }

    /// Applies changes as one batch.
    func apply(_ changes: [StorageChange<StoreHandle>]) throws {
        guard let batch = abilities.batch else { throw StorageError(.unsupported, "the store has no batches") }
        try Lent.lend(changes) { operations, count in
            try Observation { batch.apply(table.`self`, operations, count, $1) }.succeeded()
        }
    }

    /// The ability's table as the store returns it.
    func ability(_ id: String) -> UnsafeRawPointer? { id.withBytes { table.extension?(table.`self`, $0) } }
}

/// Memory that is lent to a component for one call.
private enum Lent {
    static func lend(
        _ changes: [StorageChange<StoreHandle>],
        _ body: (UnsafePointer<UnsafePointer<ld_operation>?>?, Int) throws -> Void
    ) rethrows {
        let values = changes.map { change in
            let value = change.value ?? Data()
            let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, value.count), alignment: 16)
            bytes.copyBytes(from: value)
            return ld_bytes(data: bytes.baseAddress, count: value.count)
        }
        let texts = changes.map { LentAttributes($0.attributes) }
        let operations = UnsafeMutableBufferPointer<ld_operation>.allocate(capacity: max(1, changes.count))
        let pointers = UnsafeMutableBufferPointer<UnsafePointer<ld_operation>?>.allocate(
            capacity: max(1, changes.count))
        defer {
            for value in values { UnsafeMutableRawPointer(mutating: value.data)?.deallocate() }
            for text in texts { text.free() }
            operations.deallocate()
            pointers.deallocate()
        }
        for (index, change) in changes.enumerated() {
            operations.initializeElement(
                at: index,
                to: ld_operation(
                    size: UInt32(MemoryLayout<ld_operation>.size), remove: change.value == nil ? 1 : 0,
                    handle: change.key.pointer, value: values[index], attributes: texts[index].pointer))
            pointers.initializeElement(at: index, to: operations.baseAddress.map { UnsafePointer($0 + index) })
        }
        try body(pointers.baseAddress.map { UnsafePointer($0) }, changes.count)
    }
}

/// A struct with members of a later minor.
private struct LaterStruct<Known> {
    var known: Known
    var later: (UInt64, UInt64) = (.max, 0x4141_4141_4141_4141)
}
