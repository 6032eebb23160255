internal import CLocalData
internal import Synchronization

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The optional abilities of an exported store. Each is looked for when it is first asked for: such a cast goes through
/// the conformances of all loaded libraries, and 15 of them take longer than it takes to read a small file. A class, so
/// that a call of one ability copies none.
final class StorageAbilities {
    @Deferred var enumeration: (any EnumerableBackend)?
    @Deferred var attributes: (any AttributedBackend)?
    @Deferred var streaming: (any StreamingBackend)?
    @Deferred var batch: (any BatchBackend)?
    @Deferred var watch: (any WatchableBackend)?
    @Deferred var transactions: (any TransactionalBackend)?
    @Deferred var check: (any CheckableBackend)?
    @Deferred var repair: (any RepairableBackend)?
    @Deferred var verification: (any VerifiableBackend)?
    @Deferred var wiping: (any WipingBackend)?
    @Deferred var bulk: (any BulkBackend)?
    @Deferred var conditional: (any ConditionalBackend)?
    @Deferred var expiry: (any ExpiringBackend)?
    @Deferred var locks: (any LockingBackend)?

    init(of backend: any StorageBackend) {
        _enumeration = Deferred { backend as? any EnumerableBackend }
        _attributes = Deferred { backend as? any AttributedBackend }
        _streaming = Deferred { backend as? any StreamingBackend }
        _batch = Deferred { backend as? any BatchBackend }
        _watch = Deferred { backend as? any WatchableBackend }
        _transactions = Deferred { backend as? any TransactionalBackend }
        _check = Deferred { backend as? any CheckableBackend }
        _repair = Deferred { backend as? any RepairableBackend }
        _verification = Deferred { backend as? any VerifiableBackend }
        _wiping = Deferred { backend as? any WipingBackend }
        _bulk = Deferred { backend as? any BulkBackend }
        _conditional = Deferred { backend as? any ConditionalBackend }
        _expiry = Deferred { backend as? any ExpiringBackend }
        _locks = Deferred { backend as? any LockingBackend }
    }

    /// The table of an ability, if the store has it.
    func table(_ id: String) -> UnsafeRawPointer? {
        switch id {
        case LD_STORE_ENUMERATION where enumeration != nil: AbilityTables.shared.enumeration
        case LD_STORE_ATTRIBUTES where attributes != nil: AbilityTables.shared.attributes
        case LD_STORE_STREAMING where streaming != nil: AbilityTables.shared.streaming
        case LD_STORE_BATCH where batch != nil: AbilityTables.shared.batch
        case LD_STORE_WATCH where watch != nil: AbilityTables.shared.watch
        case LD_STORE_TRANSACTIONS where transactions != nil: AbilityTables.shared.transactions
        case LD_STORE_CHECK where check != nil: AbilityTables.shared.check
        case LD_STORE_REPAIR where repair != nil: AbilityTables.shared.repair
        case LD_STORE_VERIFICATION where verification != nil: AbilityTables.shared.verification
        case LD_STORE_WIPING where wiping != nil: AbilityTables.shared.wiping
        case LD_STORE_BULK where bulk != nil: AbilityTables.shared.bulk
        case LD_STORE_CONDITIONAL where conditional != nil: AbilityTables.shared.conditional
        case LD_STORE_EXPIRY where expiry != nil: AbilityTables.shared.expiry
        case LD_STORE_LOCK where locks != nil: AbilityTables.shared.locks
        default: nil
        }
    }
}

/// A value that is made when it is first needed; if several threads need it first, each may make one, and one counts.
@propertyWrapper
struct Deferred<Value> {
    private final class Box {
        let value: Value
        init(_ value: Value) { self.value = value }
    }

    private final class Slot {
        let box = AtomicLazyReference<Box>()
    }

    private let slot = Slot()
    private let make: () -> Value

    init(_ make: @escaping () -> Value) { self.make = make }

    @inline(__always)
    var wrappedValue: Value { (slot.box.load() ?? slot.box.storeIfNil(Box(make()))).value }
}
