package import CLocalData
package import FoundationEssentials
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
    let gate: WriterGate?

    /// Takes over an open store's table.
    ///
    /// - Parameter contents: Equal for all stores of this process with the same values.
    /// - Throws: `pluginRefused` with the component if its table is invalid.
    init(
        table pointer: UnsafeRawPointer?, _ identity: ComponentIdentity, contents: UInt64
    ) throws(StorageError) {
        let component = identity.component
        var table = ld_store()
        guard copyTable(pointer, into: &table, required: Self.requiredSize) else {
            let size = pointer.map { Int($0.loadUnaligned(as: UInt32.self)) } ?? 0
            throw StorageError(
                .pluginRefused,
                "component '\(component)' opened a store whose table has \(size) bytes; "
                    + "expected \(Self.requiredSize) to \(largestTable)",
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
        abilities = LoadedAbilities(of: table, identity)
        gate = abilities.transactions == nil ? WriterGate.shared(contents) : nil
    }

    private static var requiredSize: Int {
        MemoryLayout<ld_store>.offset(of: \ld_store.extension) ?? MemoryLayout<ld_store>.size
    }

    /// Resolves an address; the caller must release the handle.
    package func resolve(_ address: StorageAddress) throws(StorageError) -> StoreHandle {
        var handle: UnsafeMutableRawPointer?
        _ = try site("resolve").call { error in
            address.withBoundary { table.resolve(table.`self`, $0, &handle, error) }
        }
        return StoreHandle(pointer: handle)
    }

    /// Releases a handle.
    package func release(_ handle: StoreHandle) { table.release(table.`self`, handle.pointer) }

    /// Reads one handle's value; valid as long as the handle.
    package func reader(of handle: StoreHandle) -> StoreReader { StoreReader(table, handle, identity) }

    /// The value, or `nil` if there is none.
    package func get(_ handle: StoreHandle) throws(StorageError) -> Data? { try reader(of: handle).read() }

    /// Whether a value is stored.
    package func exists(_ handle: StoreHandle) throws(StorageError) -> Bool {
        try site("exists").call(.found) { table.exists(table.`self`, handle.pointer, $0) } == LD_OK
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
        _ = try passing { () throws(StorageError) in
            try site("set").call { error in
                let bytes = ld_bytes(value)
                guard let attributes else { return table.set(table.`self`, handle.pointer, bytes, nil, error) }
                return attributes.withBoundary { table.set(table.`self`, handle.pointer, bytes, $0, error) }
            }
        }
    }

    /// Removes the value; `false` if there was none.
    package func remove(_ handle: StoreHandle) throws(StorageError) -> Bool {
        try passing { () throws(StorageError) in
            try site("remove").call(.found) { table.remove(table.`self`, handle.pointer, $0) } == LD_OK
        }
    }

    /// Makes a change while no exclusive compare-and-change is running.
    @inline(__always)
    func passing<Result>(_ change: () throws(StorageError) -> Result) throws(StorageError) -> Result {
        guard let gate else { return try change() }
        return try gate.whileOpen(change)
    }

    /// Closes the store. Only for callers that know that no call is in flight and no handle is held.
    package func close() { site("close").plain { table.close?(table.`self`) } }

    /// A call of one of its functions.
    @inline(__always)
    func site(_ function: StaticString) -> CallSite { identity.site(function) }
}
