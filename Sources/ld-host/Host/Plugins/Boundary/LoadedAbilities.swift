package import CLocalData
internal import LocalDataAPI
internal import Synchronization

/// The optional abilities of an open store; `nil` means that the store lacks the ability. Each is asked for once, when
/// it is first needed: a store may have to look for it.
package final class LoadedAbilities: Sendable {
    private let store: ld_store
    private let identity: ComponentIdentity

    private let enumerationSlot = AbilitySlot<ld_store_enumeration>()
    private let attributesSlot = AbilitySlot<ld_store_attributes>()
    private let streamingSlot = AbilitySlot<ld_store_streaming>()
    private let batchSlot = AbilitySlot<ld_store_batch>()
    private let watchSlot = AbilitySlot<ld_store_watch>()
    private let transactionsSlot = AbilitySlot<ld_store_transactions>()
    private let checkSlot = AbilitySlot<ld_store_check>()
    private let repairSlot = AbilitySlot<ld_store_repair>()
    private let verificationSlot = AbilitySlot<ld_store_verification>()
    private let wipingSlot = AbilitySlot<ld_store_wiping>()
    private let bulkSlot = AbilitySlot<ld_store_bulk>()
    private let conditionalSlot = AbilitySlot<ld_store_conditional>()
    private let expirySlot = AbilitySlot<ld_store_expiry>()
    private let lockSlot = AbilitySlot<ld_store_lock>()

    init(of store: ld_store, _ identity: ComponentIdentity) {
        self.store = store
        self.identity = identity
    }

    package var enumeration: ld_store_enumeration? {
        enumerationSlot.table {
            find(LD_STORE_ENUMERATION, ld_store_enumeration(), ld_store_enumeration_least_size) {
                $0.names != nil && $0.places != nil
            }
        }
    }

    package var attributes: ld_store_attributes? {
        attributesSlot.table {
            find(LD_STORE_ATTRIBUTES, ld_store_attributes(), ld_store_attributes_least_size) { $0.attributes != nil }
        }
    }

    package var streaming: ld_store_streaming? {
        streamingSlot.table {
            find(LD_STORE_STREAMING, ld_store_streaming(), ld_store_streaming_least_size) {
                $0.read != nil && $0.write != nil
            }
        }
    }

    package var batch: ld_store_batch? {
        batchSlot.table { find(LD_STORE_BATCH, ld_store_batch(), ld_store_batch_least_size) { $0.apply != nil } }
    }

    package var watch: ld_store_watch? {
        watchSlot.table {
            find(LD_STORE_WATCH, ld_store_watch(), ld_store_watch_least_size) { $0.watch != nil && $0.unwatch != nil }
        }
    }

    package var transactions: ld_store_transactions? {
        transactionsSlot.table {
            find(LD_STORE_TRANSACTIONS, ld_store_transactions(), ld_store_transactions_least_size) {
                $0.begin != nil && $0.get != nil && $0.set != nil && $0.remove != nil && $0.commit != nil
                    && $0.rollback != nil
            }
        }
    }

    package var check: ld_store_check? {
        checkSlot.table { find(LD_STORE_CHECK, ld_store_check(), ld_store_check_least_size) { $0.check != nil } }
    }

    package var repair: ld_store_repair? {
        repairSlot.table { find(LD_STORE_REPAIR, ld_store_repair(), ld_store_repair_least_size) { $0.repair != nil } }
    }

    package var verification: ld_store_verification? {
        verificationSlot.table {
            find(LD_STORE_VERIFICATION, ld_store_verification(), ld_store_verification_least_size) { $0.verify != nil }
        }
    }

    package var wiping: ld_store_wiping? {
        wipingSlot.table { find(LD_STORE_WIPING, ld_store_wiping(), ld_store_wiping_least_size) { $0.wipe != nil } }
    }

    package var bulk: ld_store_bulk? {
        bulkSlot.table {
            find(LD_STORE_BULK, ld_store_bulk(), ld_store_bulk_least_size) { $0.read != nil && $0.apply != nil }
        }
    }

    package var conditional: ld_store_conditional? {
        conditionalSlot.table {
            find(LD_STORE_CONDITIONAL, ld_store_conditional(), ld_store_conditional_least_size) {
                $0.get != nil && $0.set != nil && $0.remove != nil
            }
        }
    }

    package var expiry: ld_store_expiry? {
        expirySlot.table {
            find(LD_STORE_EXPIRY, ld_store_expiry(), ld_store_expiry_least_size) {
                $0.discard != nil && $0.sweep != nil && $0.expired != nil
            }
        }
    }

    package var lock: ld_store_lock? {
        lockSlot.table {
            find(LD_STORE_LOCK, ld_store_lock(), ld_store_lock_least_size) {
                $0.lock != nil && $0.held != nil && $0.unlock != nil
            }
        }
    }

    /// The ids of the abilities that the store has.
    var ids: [String] {
        [
            (LD_STORE_ENUMERATION, enumeration != nil), (LD_STORE_ATTRIBUTES, attributes != nil),
            (LD_STORE_STREAMING, streaming != nil), (LD_STORE_BATCH, batch != nil), (LD_STORE_WATCH, watch != nil),
            (LD_STORE_TRANSACTIONS, transactions != nil),
            (LD_STORE_CHECK, check != nil), (LD_STORE_REPAIR, repair != nil),
            (LD_STORE_VERIFICATION, verification != nil), (LD_STORE_WIPING, wiping != nil),
            (LD_STORE_BULK, bulk != nil), (LD_STORE_CONDITIONAL, conditional != nil),
            (LD_STORE_EXPIRY, expiry != nil), (LD_STORE_LOCK, lock != nil),
        ].filter(\.1).map(\.0)
    }

    /// An ability's table, if it exists and is complete: minor 1 has all of its functions, and calling one that is
    /// `NULL` would crash the process.
    private func find<Table>(
        _ id: String, _ empty: Table, _ least: Int, isComplete: (Table) -> Bool
    ) -> Table? {
        let pointer = identity.site("extension").plain { id.withBytes { store.extension?(store.`self`, $0) } }
        var table = empty
        return BoundaryStruct.copy(pointer, into: &table, least: least) && isComplete(table) ? table : nil
    }
}

/// One ability's table, copied when it is first asked for.
private struct AbilitySlot<Table>: ~Copyable {
    /// The address of the copy; 0 before it is asked for, `absent` if the store lacks the ability.
    private let address = Atomic<UInt>(0)
    private static var absent: UInt { 1 }

    /// The table. Of several threads that `ask` the store first, one keeps the answer, which is the same for all.
    @inline(__always)
    borrowing func table(_ ask: () -> Table?) -> Table? {
        let address = address.load(ordering: .acquiring)
        if address == Self.absent { return nil }
        guard let known = UnsafePointer<Table>(bitPattern: address) else { return keep(ask()) }
        return known.pointee
    }

    private borrowing func keep(_ answer: Table?) -> Table? {
        let copy = answer.map { table in
            let copy = UnsafeMutablePointer<Table>.allocate(capacity: 1)
            copy.initialize(to: table)
            return copy
        }
        let desired = copy.map { UInt(bitPattern: $0) } ?? Self.absent
        let isKept = address.compareExchange(expected: 0, desired: desired, ordering: .acquiringAndReleasing).exchanged
        if !isKept { copy?.deallocate() }
        return answer
    }

    deinit {
        let address = address.load(ordering: .relaxed)
        if address != Self.absent { UnsafeMutablePointer<Table>(bitPattern: address)?.deallocate() }
    }
}
