internal import CLocalData
internal import FoundationEssentials

/// The optional abilities of an exported store, as closures over its type.
struct StorageAbilities {
    typealias Handle = UnsafeMutableRawPointer
    typealias Pieces = ((RawSpan) throws -> Void) throws -> Void

    var names: ((StorageNamespace, String, String?, Int?, (String) -> Bool) throws -> Void)?
    var places: (((StorageNamespace) -> Bool) throws -> Void)?
    var attributes: ((Handle) throws -> ValueAttributes?)?
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

    init<Backend: StorageBackend>(of backend: Backend) {
        if let backend = backend as? any EnumerableBackend { add(enumeration: backend) }
        if let backend = backend as? any AttributedBackend { add(attributes: backend) }
        if let backend = backend as? any StreamingBackend { add(streaming: backend) }
        if let backend = backend as? any BatchBackend { add(batch: backend) }
        if let backend = backend as? any WatchableBackend { add(watching: backend) }
        if let backend = backend as? any TransactionalBackend { add(transactions: backend) }
        if let backend = backend as? any CheckableBackend { check = { try backend.check($0) } }
        if let backend = backend as? any RepairableBackend { repair = { try backend.repair($0) } }
        if let backend = backend as? any VerifiableBackend { add(verifying: backend) }
        if let backend = backend as? any WipingBackend { wipe = { try backend.wipe($0) } }
        if let backend = backend as? any BulkBackend { add(bulk: backend) }
    }

    /// The table of an ability, if the store has it.
    func table(_ id: String) -> UnsafeRawPointer? {
        switch id {
        case LD_STORE_ENUMERATION where names != nil: AbilityTables.shared.enumeration
        case LD_STORE_ATTRIBUTES where attributes != nil: AbilityTables.shared.attributes
        case LD_STORE_STREAMING where read != nil: AbilityTables.shared.streaming
        case LD_STORE_BATCH where apply != nil: AbilityTables.shared.batch
        case LD_STORE_WATCH where watch != nil: AbilityTables.shared.watch
        case LD_STORE_TRANSACTIONS where transactions != nil: AbilityTables.shared.transactions
        case LD_STORE_CHECK where check != nil: AbilityTables.shared.check
        case LD_STORE_REPAIR where repair != nil: AbilityTables.shared.repair
        case LD_STORE_VERIFICATION where verify != nil: AbilityTables.shared.verification
        case LD_STORE_WIPING where wipe != nil: AbilityTables.shared.wiping
        case LD_STORE_BULK where bulk != nil: AbilityTables.shared.bulk
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
}
