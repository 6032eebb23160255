package import CLocalData
package import FoundationEssentials
internal import HostGround
package import LocalDataAPI

/// An open store of some plugin: the import side of the boundary.
///
/// Every method makes exactly one call into the component, on the calling thread. `properties.latency` determines
/// whether the call may wait.
package final class LoadedStore: Sendable {
    /// What the store promises.
    package let properties: StoreProperties
    /// The store's own table, copied: for checks that need calls without the host's corrections.
    package let table: ld_store
    /// The tables of its optional abilities.
    package let abilities: LoadedAbilities
    /// The component's identity, for errors.
    let identity: ComponentIdentity
    /// Makes compare-and-change exclusive; `nil` if the store's own transactions do that.
    package let gate: WriterGate?
    /// Equal for all stores, in any process, with the same values.
    package let contents: UInt64
    /// What its router does not let it change any more; `nil` if no router uses it, and for those who move values
    /// between stores.
    package let mark: ServingMark?
    /// Whether it is called on threads that must not wait. Then a read that finds an expired value throws `busy`, so
    /// that a thread that may wait reads again and discards the value.
    let isInline: Bool

    /// Takes over an open store's table.
    ///
    /// - Parameters:
    ///   - contents: Equal for all stores with the same values.
    ///   - mark: What its router does not let it change any more.
    /// - Throws: `pluginRefused` with the component if its table is invalid.
    init(
        table pointer: UnsafeRawPointer?, _ identity: ComponentIdentity, contents: UInt64, mark: ServingMark?
    ) throws(StorageError) {
        let component = identity.component
        var table = ld_store()
        guard BoundaryStruct.copy(pointer, into: &table, least: ld_store_least_size) else {
            throw StorageError(
                .pluginRefused,
                "component '\(component)' opened a store whose table has \(BoundaryStruct.size(pointer)) bytes; "
                    + "expected \(BoundaryStruct.sizes(least: ld_store_least_size))",
                hint: "build the plugin against the header of ABI major \(LD_ABI_MAJOR)")
        }
        let functions: [(String, Bool)] = [
            ("resolve", table.resolve != nil), ("release", table.release != nil), ("get", table.get != nil),
            ("exists", table.exists != nil), ("set", table.set != nil), ("remove", table.remove != nil),
        ]
        if let missing = functions.first(where: { !$0.1 }) {
            throw StorageError(
                .pluginRefused, "component '\(component)' opened a store without the function '\(missing.0)'",
                hint: "a store's table needs \(functions.map(\.0).joined(separator: ", "))")
        }
        guard let latency = StoreProperties.Latency(rawValue: table.latency) else {
            throw StorageError(
                .pluginRefused, "component '\(component)' opened a store of the unknown latency class \(table.latency)",
                hint: "use one of the LD_LATENCY_ values")
        }
        self.table = table
        self.identity = identity
        var properties = StoreProperties(
            latency: latency, isDurable: table.flags & LD_STORE_DURABLE != 0,
            isShared: table.flags & LD_STORE_SHARED != 0, isKeychain: table.flags & LD_STORE_KEYCHAIN != 0,
            keepsFoldersApart: table.flags & LD_STORE_FOLDERS_APART != 0,
            largestValue: table.largest_value == 0 ? nil : table.largest_value)
        properties.enforces = table.enforces
        self.properties = properties
        identity.isLocal = latency.rawValue <= StoreProperties.Latency.disk.rawValue
        abilities = LoadedAbilities(of: table, identity)
        gate = abilities.transactions == nil ? WriterGate.shared(contents) : nil
        isInline = false
        self.contents = contents
        // What is in this process's memory alone is switched by nobody.
        self.mark = properties.isDurable || properties.isShared ? mark : nil
    }

    /// The same store for threads that must not wait.
    package convenience init(inline store: LoadedStore) {
        self.init(store, isInline: store.properties.latency != .memory, mark: store.mark)
    }

    /// The same store for those who move values from and to it: they change what it serves, and what it does not.
    package convenience init(moving store: LoadedStore) { self.init(store, isInline: store.isInline, mark: nil) }

    private init(_ store: LoadedStore, isInline: Bool, mark: ServingMark?) {
        table = store.table
        identity = store.identity
        properties = store.properties
        abilities = store.abilities
        gate = store.gate
        contents = store.contents
        self.isInline = isInline
        self.mark = mark
    }

    /// Resolves an address; the caller must release the handle.
    package func resolve(_ address: StorageAddress) throws(StorageError) -> StoreHandle {
        var handle: UnsafeMutableRawPointer?
        _ = try site("resolve").call { error in
            address.withBoundary { table.resolve(table.`self`, $0, &handle, error) }
        }
        return StoreHandle(address, pointer: handle)
    }

    /// Releases a handle.
    package func release(_ handle: StoreHandle) {
        table.release(table.`self`, handle.pointer)
        handle.release()
    }

    /// Reads one handle's value; valid as long as the handle.
    package func reader(of handle: StoreHandle) -> StoreReader { StoreReader(table, handle, identity) }

    /// The value, or `nil` if absent.
    package func get(_ handle: StoreHandle) throws(StorageError) -> Data? {
        try discardingExpired(handle, absent: nil) { () throws(StorageError) in try reader(of: handle).read() }
    }

    /// Whether a value is stored.
    package func exists(_ handle: StoreHandle) throws(StorageError) -> Bool {
        try discardingExpired(handle, absent: false) { () throws(StorageError) in
            try site("exists").call(.current) { table.exists(table.`self`, handle.pointer, $0) } == LD_OK
        }
    }

    /// Stores a value.
    package func set(_ handle: StoreHandle, to value: Data, attributes: ValueAttributes?) throws(StorageError) {
        try value.withBuffer { (bytes) throws(StorageError) in try set(handle, to: bytes, attributes: attributes) }
    }

    /// Stores a value.
    func set(
        _ handle: StoreHandle, to value: UnsafeRawBufferPointer, attributes: ValueAttributes?
    ) throws(StorageError) {
        try checkSize(value.count)
        try checkExpiry(attributes)
        _ = try passing(handle) { () throws(StorageError) in
            try site("set").call { error in
                let bytes = ld_bytes(value)
                guard let attributes else { return table.set(table.`self`, handle.pointer, bytes, nil, error) }
                return attributes.withBoundary { table.set(table.`self`, handle.pointer, bytes, $0, error) }
            }
        }
    }

    /// Removes the value; `false` if there was none.
    package func remove(_ handle: StoreHandle) throws(StorageError) -> Bool {
        try passing(handle) { () throws(StorageError) in
            try site("remove").call(.found) { table.remove(table.`self`, handle.pointer, $0) } == LD_OK
        }
    }

    /// Makes a change of one address while no exclusive compare-and-change is running, and no store is switched.
    @inline(__always)
    func passing<Result>(
        _ handle: StoreHandle, _ change: () throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        try passing({ [handle.address] }, change)
    }

    /// The same for a change of several addresses.
    @inline(__always)
    func passing<Result>(
        _ addresses: () -> [StorageAddress], _ change: () throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        guard let mark else { return try passing(change) }
        return try mark.passing(addresses, in: contents) { () throws(StorageError) in try passing(change) }
    }

    /// Makes a change while no exclusive compare-and-change is running. For what no switch needs to follow.
    @inline(__always)
    func passing<Result>(_ change: () throws(StorageError) -> Result) throws(StorageError) -> Result {
        guard let gate else { return try change() }
        return try gate.whileOpen(change)
    }

    /// Makes changes that belong together: no store is switched between them.
    ///
    /// - Parameter addresses: Some of them, of each domain.
    package func together<Result>(
        _ addresses: [StorageAddress], _ body: () throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        guard let mark else { return try body() }
        return try mark.together(addresses, in: contents, body)
    }

    /// Closes the store. Only for callers that know that no call is in flight and no handle is held.
    package func close() { site("close").plain { table.close?(table.`self`) } }

    /// A call of one of its functions.
    @inline(__always)
    func site(_ function: StaticString) -> CallSite { identity.site(function) }
}

extension LoadedStore {
    /// Lets the store check its data for damage, and passes one line per problem to `body` until it returns `false`.
    /// May take long.
    ///
    /// - Throws: `unsupported` if the store has no checks, and whatever it reports.
    package func check(_ body: (String) -> Bool) throws(StorageError) {
        guard let check = abilities.check else { throw lacks("checks") }
        _ = try site("check").pieces {
            body(String(decoding: $0.prefix(64 << 10), as: UTF8.self)) ? .more : .enough
        } _: { sink, error in
            check.check(table.`self`, sink, error)
        }
    }

    /// Lets the store repair damage that blocks changes, and passes one line per step. May take long.
    ///
    /// - Throws: `unsupported` if the store has no repair, and whatever it reports.
    package func repair(_ body: (String) -> Void) throws(StorageError) {
        guard let repair = abilities.repair else { throw lacks("repairs") }
        _ = try site("repair").pieces {
            body(String(decoding: $0.prefix(64 << 10), as: UTF8.self))
            return .more
        } _: { sink, error in
            repair.repair(table.`self`, sink, error)
        }
    }

    /// Lets the store compare a value with the record of its last write; `nil` if there is no value. May take long.
    ///
    /// - Throws: `corrupt` for a value whose bytes are not those that were stored; `unsupported` if the store keeps no
    ///   records.
    package func verify(_ handle: StoreHandle) throws(StorageError) -> ValueState? {
        guard let verification = abilities.verification else { throw lacks("verification") }
        var state: UInt32 = 0
        let site = site("verify")
        let status = try discardingExpired(handle, absent: LD_ABSENT) { () throws(StorageError) in
            try site.call(.current) { verification.verify(table.`self`, handle.pointer, &state, $0) }
        }
        guard status == LD_OK else { return nil }
        guard let known = ValueState(rawValue: state) else {
            throw site.violation("it returned the unknown state \(state) for a value", code: .unknown)
        }
        return known
    }

    /// Lets the store erase removed values from the files of a namespace. May take long.
    ///
    /// - Throws: `unsupported` if the store cannot do that, and whatever it reports.
    package func wipe(_ place: StorageNamespace) throws(StorageError) {
        guard let wiping = abilities.wiping else { throw lacks("wiping") }
        _ = try site("wipe").call { error in place.withBoundary { wiping.wipe(table.`self`, $0, error) } }
    }
}

extension LoadedStore {
    package func lacks(_ ability: String) -> StorageError {
        StorageError(.unsupported, "the store does not offer \(ability)", hint: "map the domain to a store that does")
    }

    func checkSize(_ count: Int) throws(StorageError) {
        guard let largest = properties.largestValue, count > largest else { return }
        throw StorageError(
            .valueTooLarge, "the value has \(count) bytes; the store accepts at most \(largest)",
            hint: "map the domain to a store for large values")
    }
}

extension LoadedStore {
    /// Calls `changed` with the name of each value in `place` that starts with `prefix` and was set or removed, or with
    /// `nil` if anything may have changed: on any thread, even during a `set`. It must not wait, and must not call the
    /// store.
    ///
    /// - Returns: The watch; it runs until it is passed to ``unwatch(_:)``.
    /// - Throws: `unsupported` if the store cannot watch, and whatever the store reports.
    package func watch(
        _ place: StorageNamespace, prefix: String = "", changed: @escaping @Sendable (String?) -> Void
    ) throws(StorageError) -> StoreWatch {
        guard let watch = abilities.watch else { throw lacks("watching") }
        let listener = StoreListener(identity, changed)
        var token: UnsafeMutableRawPointer?
        do throws(StorageError) {
            _ = try site("watch").call { error in
                place.withBoundary { place in
                    prefix.withBytes { prefix in
                        var watcher = ld_watcher(
                            size: UInt32(MemoryLayout<ld_watcher>.size), context: listener.context,
                            changed: takeChange)
                        return watch.watch(table.`self`, place, prefix, &watcher, &token, error)
                    }
                }
            }
        } catch {
            listener.end()
            throw error
        }
        return StoreWatch(token: token, listener: listener)
    }

    /// Ends a watch, once; when it returns, `changed` is not running and will not run again. May wait.
    package func unwatch(_ watch: StoreWatch) {
        site("unwatch").plain { abilities.watch?.unwatch(table.`self`, watch.token) }
        watch.listener.end()
    }
}
