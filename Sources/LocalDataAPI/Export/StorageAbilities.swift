internal import CLocalData
internal import FoundationEssentials

/// The optional abilities of an exported store, as closures over its type.
struct StorageAbilities {
    typealias Handle = UnsafeMutableRawPointer
    typealias Pieces = ((RawSpan) throws -> Void) throws -> Void

    var names: ((StorageNamespace, String, String?, Int?, (String) -> Bool) throws -> Void)?
    var places: (((StorageNamespace) -> Bool) throws -> Void)?
    var attributes: ((Handle) throws -> ValueAttributes?)?
    var getTagged: ((Handle, (String?, RawSpan) -> Void) throws -> Bool)?
    var read: ((Handle, (RawSpan) -> Bool) throws -> Bool)?
    var write: ((Handle, ValueAttributes?, Pieces) throws -> Void)?
    var apply: ((UnsafeBufferPointer<UnsafePointer<ld_operation>?>) throws -> Void)?
    var watch: ((StorageNamespace, String, @escaping @Sendable (String?) -> Void) throws -> Handle)?
    var unwatch: ((Handle) -> Void)?
    var transactions: AnyTransactionExport?
    var check: (((String) -> Bool) throws -> Void)?
    var repair: (((String) -> Void) throws -> Void)?
    var verify: ((Handle) throws -> ValueState?)?
    var wipe: ((StorageNamespace) throws -> Void)?
    var bulk: AnyBulkExport?
    var conditional: AnyConditionalExport?
    var expiry: AnyExpiryExport?
    var locks: AnyLockExport?

    init<Backend: StorageBackend>(of backend: Backend) {
        if let backend = backend as? any EnumerableBackend { add(enumeration: backend) }
        if let backend = backend as? any AttributedBackend { add(attributes: backend) }
        if let backend = backend as? any TaggedBackend { add(tagging: backend) }
        if let backend = backend as? any StreamingBackend { add(streaming: backend) }
        if let backend = backend as? any BatchBackend { add(batch: backend) }
        if let backend = backend as? any WatchableBackend { add(watching: backend) }
        if let backend = backend as? any TransactionalBackend { add(transactions: backend) }
        if let backend = backend as? any CheckableBackend { check = { try backend.check($0) } }
        if let backend = backend as? any RepairableBackend { repair = { try backend.repair($0) } }
        if let backend = backend as? any VerifiableBackend { add(verifying: backend) }
        if let backend = backend as? any WipingBackend { wipe = { try backend.wipe($0) } }
        if let backend = backend as? any BulkBackend { add(bulk: backend) }
        if let backend = backend as? any ConditionalBackend { add(conditional: backend) }
        if let backend = backend as? any ExpiringBackend { add(expiry: backend) }
        if let backend = backend as? any LockingBackend { add(locks: backend) }
    }

    /// The table of an ability, if the store has it.
    func table(_ id: String) -> UnsafeRawPointer? {
        switch id {
        case LD_STORE_ENUMERATION where names != nil: AbilityTables.shared.enumeration
        case LD_STORE_ATTRIBUTES where attributes != nil: AbilityTables.shared.attributes
        case LD_STORE_TAGGED where getTagged != nil: AbilityTables.shared.tagged
        case LD_STORE_STREAMING where read != nil: AbilityTables.shared.streaming
        case LD_STORE_BATCH where apply != nil: AbilityTables.shared.batch
        case LD_STORE_WATCH where watch != nil: AbilityTables.shared.watch
        case LD_STORE_TRANSACTIONS where transactions != nil: AbilityTables.shared.transactions
        case LD_STORE_CHECK where check != nil: AbilityTables.shared.check
        case LD_STORE_REPAIR where repair != nil: AbilityTables.shared.repair
        case LD_STORE_VERIFICATION where verify != nil: AbilityTables.shared.verification
        case LD_STORE_WIPING where wipe != nil: AbilityTables.shared.wiping
        case LD_STORE_BULK where bulk != nil: AbilityTables.shared.bulk
        case LD_STORE_CONDITIONAL where conditional != nil: AbilityTables.shared.conditional
        case LD_STORE_EXPIRY where expiry != nil: AbilityTables.shared.expiry
        case LD_STORE_LOCK where locks != nil: AbilityTables.shared.locks
        default: nil
        }
    }

    private mutating func add<Backend: EnumerableBackend>(enumeration backend: Backend) {
        names = { try backend.forEachName(in: $0, prefix: $1, after: $2, limit: $3, $4) }
        places = { try backend.forEachPlace($0) }
    }

    private mutating func add<Backend: AttributedBackend>(attributes backend: Backend) {
        attributes = { try backend.attributes(of: KeyBox<Backend.Key>.key($0)) }
    }

    private mutating func add<Backend: TaggedBackend>(tagging backend: Backend) {
        getTagged = { try backend.get(KeyBox<Backend.Key>.key($0), $1) }
    }

    private mutating func add<Backend: StreamingBackend>(streaming backend: Backend) {
        read = { try backend.read(KeyBox<Backend.Key>.key($0), $1) }
        write = { try backend.write(KeyBox<Backend.Key>.key($0), attributes: $1, from: $2) }
    }

    private mutating func add<Backend: BatchBackend>(batch backend: Backend) {
        apply = { operations in
            // Mostly the same for all values; copying the texts each time would double the work.
            var last: (table: UnsafePointer<ld_attributes>, attributes: ValueAttributes)?
            func attributes(_ table: UnsafePointer<ld_attributes>?) throws -> ValueAttributes? {
                guard let table else { return nil }
                if let last, last.table == table { return last.attributes }
                let attributes = try ValueAttributes(table)
                last = (table, attributes)
                return attributes
            }
            // Not with map: its closure would look up its types at run time once per change, which costs more than the
            // change.
            let changes = try [StorageChange<Backend.Key>](unsafeUninitializedCapacity: operations.count) {
                changes, count in
                while count < operations.count {
                    guard let operation = operations[count]?.pointee else { throw StorageError(.unsupported) }
                    changes.initializeElement(
                        at: count,
                        to: StorageChange(
                            key: KeyBox<Backend.Key>.key(try checked(operation.handle)),
                            value: operation.remove == 0 ? try Data(operation.value.bytes()) : nil,
                            attributes: try attributes(operation.attributes)))
                    count += 1
                }
            }
            try backend.apply(changes)
        }
    }

    private mutating func add<Backend: WatchableBackend>(watching backend: Backend) {
        watch = { place, prefix, changed in
            Unmanaged.passRetained(KeyBox(try backend.watch(place, prefix: prefix, changed: changed))).toOpaque()
        }
        unwatch = { token in
            backend.unwatch(KeyBox<Backend.Watch>.key(token))
            Unmanaged<KeyBox<Backend.Watch>>.fromOpaque(token).release()
        }
    }

    private mutating func add<Backend: TransactionalBackend>(transactions backend: Backend) {
        transactions = TransactionExport(backend)
    }

    private mutating func add<Backend: VerifiableBackend>(verifying backend: Backend) {
        verify = { try backend.verify(KeyBox<Backend.Key>.key($0)) }
    }

    private mutating func add<Backend: BulkBackend>(bulk backend: Backend) { bulk = BulkExport(backend) }

    private mutating func add<Backend: ConditionalBackend>(conditional backend: Backend) {
        conditional = ConditionalExport(backend)
    }

    private mutating func add<Backend: ExpiringBackend>(expiry backend: Backend) { expiry = ExpiryExport(backend) }

    private mutating func add<Backend: LockingBackend>(locks backend: Backend) { locks = LockExport(backend) }
}

/// The C tables of the abilities; all exported stores share them.
struct AbilityTables: @unchecked Sendable {
    // Pointers to constants that are never freed.
    static let shared = AbilityTables()

    let enumeration = UnsafeRawPointer(
        UnsafePointer.immortal(
            ld_store_enumeration(
                size: UInt32(MemoryLayout<ld_store_enumeration>.size), names: enumerateNames, places: enumeratePlaces)))
    let attributes = UnsafeRawPointer(
        UnsafePointer.immortal(
            ld_store_attributes(size: UInt32(MemoryLayout<ld_store_attributes>.size), attributes: readAttributes)))
    let tagged = UnsafeRawPointer(
        UnsafePointer.immortal(ld_store_tagged(size: UInt32(MemoryLayout<ld_store_tagged>.size), get: readTagged)))
    let streaming = UnsafeRawPointer(
        UnsafePointer.immortal(
            ld_store_streaming(
                size: UInt32(MemoryLayout<ld_store_streaming>.size), read: readPieces, write: writePieces)))
    let batch = UnsafeRawPointer(
        UnsafePointer.immortal(
            ld_store_batch(size: UInt32(MemoryLayout<ld_store_batch>.size), apply: applyBatch)))
    let watch = UnsafeRawPointer(
        UnsafePointer.immortal(
            ld_store_watch(
                size: UInt32(MemoryLayout<ld_store_watch>.size), watch: beginWatch, unwatch: endWatch)))
    let transactions = UnsafeRawPointer(
        UnsafePointer.immortal(
            ld_store_transactions(
                size: UInt32(MemoryLayout<ld_store_transactions>.size), begin: beginTransaction,
                get: getInTransaction, set: setInTransaction, remove: removeInTransaction, commit: commitTransaction,
                rollback: rollbackTransaction)))
    let check = UnsafeRawPointer(
        UnsafePointer.immortal(
            ld_store_check(size: UInt32(MemoryLayout<ld_store_check>.size), check: checkStore)))
    let repair = UnsafeRawPointer(
        UnsafePointer.immortal(
            ld_store_repair(size: UInt32(MemoryLayout<ld_store_repair>.size), repair: repairStore)))
    let verification = UnsafeRawPointer(
        UnsafePointer.immortal(
            ld_store_verification(size: UInt32(MemoryLayout<ld_store_verification>.size), verify: verifyValue)))
    let wiping = UnsafeRawPointer(
        UnsafePointer.immortal(ld_store_wiping(size: UInt32(MemoryLayout<ld_store_wiping>.size), wipe: wipeStore)))
    let bulk = UnsafeRawPointer(
        UnsafePointer.immortal(
            ld_store_bulk(size: UInt32(MemoryLayout<ld_store_bulk>.size), read: readMany, apply: applyMany)))
    let conditional = UnsafeRawPointer(
        UnsafePointer.immortal(
            ld_store_conditional(
                size: UInt32(MemoryLayout<ld_store_conditional>.size), get: readRevision, set: setConditionally,
                remove: removeConditionally)))
    let expiry = UnsafeRawPointer(
        UnsafePointer.immortal(
            ld_store_expiry(
                size: UInt32(MemoryLayout<ld_store_expiry>.size), discard: discardExpired, sweep: sweepExpired,
                expired: listExpired)))
    let locks = UnsafeRawPointer(
        UnsafePointer.immortal(
            ld_store_lock(
                size: UInt32(MemoryLayout<ld_store_lock>.size), lock: takeLock, held: isLockHeld, unlock: giveLockBack))
    )
}

/// The transactions of a store of some Swift type.
class AnyTransactionExport {
    typealias Handle = UnsafeMutableRawPointer

    func begin() throws -> Handle { throw StorageError(.unsupported) }
    func get(_ transaction: Handle, _ handle: Handle, _ sink: UnsafePointer<ld_sink>) throws -> Int32 { LD_ABSENT }
    func set(_ transaction: Handle, _ handle: Handle, _ value: ld_bytes, _ attributes: ValueAttributes?) throws {}
    func remove(_ transaction: Handle, _ handle: Handle) throws -> Int32 { LD_ABSENT }
    func commit(_ transaction: Handle) throws {}
    func rollback(_ transaction: Handle) {}
}

final class TransactionExport<Backend: TransactionalBackend>: AnyTransactionExport {
    private typealias Box = KeyBox<Backend.Transaction>
    private let backend: Backend

    init(_ backend: Backend) { self.backend = backend }

    override func begin() throws -> Handle { Unmanaged.passRetained(Box(try backend.begin())).toOpaque() }

    override func get(_ transaction: Handle, _ handle: Handle, _ sink: UnsafePointer<ld_sink>) throws -> Int32 {
        var stopped = false
        let found = try backend.get(KeyBox<Backend.Key>.key(handle), in: Box.key(transaction)) {
            stopped = !sink.send($0)
        }
        return stopped ? LD_STOPPED : found ? LD_OK : LD_ABSENT
    }

    override func set(
        _ transaction: Handle, _ handle: Handle, _ value: ld_bytes, _ attributes: ValueAttributes?
    ) throws {
        try backend.set(
            KeyBox<Backend.Key>.key(handle), to: value.bytes().bytes, attributes: attributes, in: Box.key(transaction))
    }

    override func remove(_ transaction: Handle, _ handle: Handle) throws -> Int32 {
        try backend.remove(KeyBox<Backend.Key>.key(handle), in: Box.key(transaction)) ? LD_OK : LD_ABSENT
    }

    override func commit(_ transaction: Handle) throws {
        defer { Unmanaged<Box>.fromOpaque(transaction).release() }
        try backend.commit(Box.key(transaction))
    }

    override func rollback(_ transaction: Handle) {
        backend.rollback(Box.key(transaction))
        Unmanaged<Box>.fromOpaque(transaction).release()
    }
}
