internal import CLocalData
internal import FoundationEssentials
internal import HostPlugins
internal import LocalDataAPI

/// A transaction of a store.
struct BoundaryTransaction: @unchecked Sendable {
    // The pointer is opaque; checks use a transaction on one thread at a time, as its contract says.
    private let store: LoadedStore
    private let functions: ld_store_transactions
    private let pointer: UnsafeMutableRawPointer?

    init(_ store: LoadedStore) throws {
        guard let functions = store.abilities.transactions else {
            throw StorageError(.unsupported, "the store has no transactions")
        }
        self.store = store
        self.functions = functions
        var found: UnsafeMutableRawPointer?
        try Observation { functions.begin(store.table.`self`, &found, $1) }.succeeded()
        pointer = found
    }

    func observeGet(
        _ handle: StoreHandle, taking take: @escaping (Data) throws -> Bool = { _ in true }
    ) -> Observation {
        Observation(taking: take) { functions.get(store.table.`self`, pointer, handle.pointer, $0, $1) }
    }

    func get(_ handle: StoreHandle) throws -> Data? {
        let observed = observeGet(handle)
        return try observed.succeeded() == LD_OK ? observed.pieces.reduce(into: Data()) { $0.append($1) } : nil
    }

    func set(_ handle: StoreHandle, to value: Data) throws {
        try Observation { _, error in
            value.withUnsafeBytes { value in
                functions.set(
                    store.table.`self`, pointer, handle.pointer,
                    ld_bytes(data: value.baseAddress, count: value.count), nil, error)
            }
        }.succeeded()
    }

    @discardableResult
    func remove(_ handle: StoreHandle) throws -> Bool {
        try Observation { functions.remove(store.table.`self`, pointer, handle.pointer, $1) }.succeeded() == LD_OK
    }

    func commit() throws { try Observation { functions.commit(store.table.`self`, pointer, $1) }.succeeded() }

    func rollback() { functions.rollback(store.table.`self`, pointer) }
}
