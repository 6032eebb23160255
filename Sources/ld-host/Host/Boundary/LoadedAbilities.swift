package import CLocalData
internal import LocalDataAPI

/// The optional abilities of an open store, queried once. `nil` means that the store lacks the ability.
package struct LoadedAbilities: Sendable {
    package let enumeration: ld_store_enumeration?
    package let attributes: ld_store_attributes?
    package let tagged: ld_store_tagged?
    package let streaming: ld_store_streaming?
    package let batch: ld_store_batch?
    package let watch: ld_store_watch?
    package let transactions: ld_store_transactions?
    package let check: ld_store_check?
    package let repair: ld_store_repair?
    package let verification: ld_store_verification?
    package let wiping: ld_store_wiping?
    package let bulk: ld_store_bulk?
    package let conditional: ld_store_conditional?
    package let expiry: ld_store_expiry?
    package let lock: ld_store_lock?

    init(of store: ld_store, _ identity: ComponentIdentity) {
        func find<Table>(_ id: String, _ empty: Table, _ least: Int, isComplete: (Table) -> Bool) -> Table? {
            Self.find(id, in: store, identity, empty, least, isComplete: isComplete)
        }
        enumeration = find(LD_STORE_ENUMERATION, ld_store_enumeration(), ld_store_enumeration_least_size) {
            $0.names != nil && $0.places != nil
        }
        attributes = find(LD_STORE_ATTRIBUTES, ld_store_attributes(), ld_store_attributes_least_size) {
            $0.attributes != nil
        }
        tagged = find(LD_STORE_TAGGED, ld_store_tagged(), ld_store_tagged_least_size) { $0.get != nil }
        streaming = find(LD_STORE_STREAMING, ld_store_streaming(), ld_store_streaming_least_size) {
            $0.read != nil && $0.write != nil
        }
        batch = find(LD_STORE_BATCH, ld_store_batch(), ld_store_batch_least_size) { $0.apply != nil }
        watch = find(LD_STORE_WATCH, ld_store_watch(), ld_store_watch_least_size) {
            $0.watch != nil && $0.unwatch != nil
        }
        transactions = find(LD_STORE_TRANSACTIONS, ld_store_transactions(), ld_store_transactions_least_size) {
            $0.begin != nil && $0.get != nil && $0.set != nil && $0.remove != nil && $0.commit != nil
                && $0.rollback != nil
        }
        check = find(LD_STORE_CHECK, ld_store_check(), ld_store_check_least_size) { $0.check != nil }
        repair = find(LD_STORE_REPAIR, ld_store_repair(), ld_store_repair_least_size) { $0.repair != nil }
        verification = find(LD_STORE_VERIFICATION, ld_store_verification(), ld_store_verification_least_size) {
            $0.verify != nil
        }
        wiping = find(LD_STORE_WIPING, ld_store_wiping(), ld_store_wiping_least_size) { $0.wipe != nil }
        bulk = find(LD_STORE_BULK, ld_store_bulk(), ld_store_bulk_least_size) { $0.read != nil && $0.apply != nil }
        conditional = find(LD_STORE_CONDITIONAL, ld_store_conditional(), ld_store_conditional_least_size) {
            $0.get != nil && $0.set != nil && $0.remove != nil
        }
        expiry = find(LD_STORE_EXPIRY, ld_store_expiry(), ld_store_expiry_least_size) {
            $0.discard != nil && $0.sweep != nil && $0.expired != nil
        }
        lock = find(LD_STORE_LOCK, ld_store_lock(), ld_store_lock_least_size) {
            $0.lock != nil && $0.held != nil && $0.unlock != nil
        }
    }

    /// The ids of the abilities that the store has.
    var ids: [String] {
        [
            (LD_STORE_ENUMERATION, enumeration != nil), (LD_STORE_ATTRIBUTES, attributes != nil),
            (LD_STORE_TAGGED, tagged != nil),
            (LD_STORE_STREAMING, streaming != nil), (LD_STORE_BATCH, batch != nil),
            (LD_STORE_WATCH, watch != nil), (LD_STORE_TRANSACTIONS, transactions != nil),
            (LD_STORE_CHECK, check != nil), (LD_STORE_REPAIR, repair != nil),
            (LD_STORE_VERIFICATION, verification != nil), (LD_STORE_WIPING, wiping != nil),
            (LD_STORE_BULK, bulk != nil), (LD_STORE_CONDITIONAL, conditional != nil),
            (LD_STORE_EXPIRY, expiry != nil), (LD_STORE_LOCK, lock != nil),
        ].filter(\.1).map(\.0)
    }

    /// An ability's table, if it exists and is complete: minor 1 has all of its functions, and calling one that is
    /// `NULL` would crash the process.
    private static func find<Table>(
        _ id: String, in store: ld_store, _ identity: ComponentIdentity, _ empty: Table, _ least: Int,
        isComplete: (Table) -> Bool
    ) -> Table? {
        let pointer = identity.site("extension").plain { id.withBytes { store.extension?(store.`self`, $0) } }
        var table = empty
        return BoundaryStruct.copy(pointer, into: &table, least: least) && isComplete(table) ? table : nil
    }
}
