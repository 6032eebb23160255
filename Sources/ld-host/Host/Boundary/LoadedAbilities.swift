package import CLocalData
internal import LocalDataAPI

/// The optional abilities of an open store, asked for once. `nil` means that the store lacks it.
package struct LoadedAbilities: Sendable {
    package let enumeration: ld_store_enumeration?
    package let attributes: ld_store_attributes?
    package let streaming: ld_store_streaming?
    package let batch: ld_store_batch?
    package let watch: ld_store_watch?
    package let transactions: ld_store_transactions?
    package let check: ld_store_check?
    package let bulk: ld_store_bulk?

    init(of store: ld_store) {
        enumeration = Self.find(LD_STORE_ENUMERATION, in: store, ld_store_enumeration()) {
            $0.names != nil && $0.places != nil
        }
        attributes = Self.find(LD_STORE_ATTRIBUTES, in: store, ld_store_attributes()) { $0.attributes != nil }
        streaming = Self.find(LD_STORE_STREAMING, in: store, ld_store_streaming()) {
            $0.read != nil && $0.write != nil
        }
        batch = Self.find(LD_STORE_BATCH, in: store, ld_store_batch()) { $0.apply != nil }
        watch = Self.find(LD_STORE_WATCH, in: store, ld_store_watch()) { $0.watch != nil && $0.unwatch != nil }
        transactions = Self.find(LD_STORE_TRANSACTIONS, in: store, ld_store_transactions()) {
            $0.begin != nil && $0.get != nil && $0.set != nil && $0.remove != nil && $0.commit != nil
                && $0.rollback != nil
        }
        check = Self.find(LD_STORE_CHECK, in: store, ld_store_check()) { $0.check != nil }
        bulk = Self.find(LD_STORE_BULK, in: store, ld_store_bulk()) { $0.read != nil && $0.apply != nil }
    }

    /// The ids of the abilities that the store has.
    var ids: [String] {
        [
            (LD_STORE_ENUMERATION, enumeration != nil), (LD_STORE_ATTRIBUTES, attributes != nil),
            (LD_STORE_STREAMING, streaming != nil), (LD_STORE_BATCH, batch != nil),
            (LD_STORE_WATCH, watch != nil), (LD_STORE_TRANSACTIONS, transactions != nil),
            (LD_STORE_CHECK, check != nil), (LD_STORE_BULK, bulk != nil),
        ].filter(\.1).map(\.0)
    }

    /// An ability's table, if it is there and complete: every revision so far has all of its functions, and calling one
    /// that is `NULL` would end the process.
    private static func find<Table>(
        _ id: String, in store: ld_store, _ empty: Table, isComplete: (Table) -> Bool
    ) -> Table? {
        let pointer = id.withBytes { store.extension?(store.`self`, $0) }
        var table = empty
        guard let pointer, copyTable(pointer, into: &table, required: MemoryLayout<Table>.size) else { return nil }
        return isComplete(table) ? table : nil
    }
}
