internal import CLocalData
internal import Synchronization

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The optional abilities of an exported store, as closures over its type. Each is looked for when it is first asked
/// for: such a cast goes through the conformances of all loaded libraries, and 15 of them take longer than it takes to
/// read a small file. A class, so that a call of one ability copies none.
final class StorageAbilities {
    typealias Handle = UnsafeMutableRawPointer
    typealias Pieces = ((RawSpan) throws -> Void) throws -> Void

    struct Enumeration {
        let names: (StorageNamespace, String, String?, Int?, (String) -> Bool) throws -> Void
        let places: ((StorageNamespace) -> Bool) throws -> Void
    }

    struct Streaming {
        let read: (Handle, (RawSpan) -> Bool) throws -> Bool
        let write: (Handle, ValueAttributes?, Pieces) throws -> Void
    }

    struct Watching {
        let watch: (StorageNamespace, String, @escaping @Sendable (String?) -> Void) throws -> Handle
        let unwatch: (Handle) -> Void
    }

    @Deferred var enumeration: Enumeration?
    @Deferred var attributes: ((Handle) throws -> ValueAttributes?)?
    @Deferred var streaming: Streaming?
    @Deferred var apply: ((UnsafeBufferPointer<UnsafePointer<ld_operation>?>) throws -> Void)?
    @Deferred var watching: Watching?
    @Deferred var transactions: AnyTransactionExport?
    @Deferred var check: (((String) -> Bool) throws -> Void)?
    @Deferred var repair: (((String) -> Void) throws -> Void)?
    @Deferred var verify: ((Handle) throws -> ValueState?)?
    @Deferred var wipe: ((StorageNamespace) throws -> Void)?
    @Deferred var bulk: AnyBulkExport?
    @Deferred var conditional: AnyConditionalExport?
    @Deferred var expiry: AnyExpiryExport?
    @Deferred var locks: AnyLockExport?

    var names: ((StorageNamespace, String, String?, Int?, (String) -> Bool) throws -> Void)? { enumeration?.names }
    var places: (((StorageNamespace) -> Bool) throws -> Void)? { enumeration?.places }
    var read: ((Handle, (RawSpan) -> Bool) throws -> Bool)? { streaming?.read }
    var write: ((Handle, ValueAttributes?, Pieces) throws -> Void)? { streaming?.write }
    var watch: ((StorageNamespace, String, @escaping @Sendable (String?) -> Void) throws -> Handle)? {
        watching?.watch
    }
    var unwatch: ((Handle) -> Void)? { watching?.unwatch }

    init<Backend: StorageBackend>(of backend: Backend) {
        _enumeration = Deferred { (backend as? any EnumerableBackend).map { Self.enumeration($0) } }
        _attributes = Deferred { (backend as? any AttributedBackend).map { Self.attributes($0) } }
        _streaming = Deferred { (backend as? any StreamingBackend).map { Self.streaming($0) } }
        _apply = Deferred { (backend as? any BatchBackend).map { Self.batch($0) } }
        _watching = Deferred { (backend as? any WatchableBackend).map { Self.watching($0) } }
        _transactions = Deferred { (backend as? any TransactionalBackend).map { Self.transactions($0) } }
        _check = Deferred { (backend as? any CheckableBackend).map { backend in { try backend.check($0) } } }
        _repair = Deferred { (backend as? any RepairableBackend).map { backend in { try backend.repair($0) } } }
        _verify = Deferred { (backend as? any VerifiableBackend).map { Self.verifying($0) } }
        _wipe = Deferred { (backend as? any WipingBackend).map { backend in { try backend.wipe($0) } } }
        _bulk = Deferred { (backend as? any BulkBackend).map { Self.bulk($0) } }
        _conditional = Deferred { (backend as? any ConditionalBackend).map { Self.conditional($0) } }
        _expiry = Deferred { (backend as? any ExpiringBackend).map { Self.expiry($0) } }
        _locks = Deferred { (backend as? any LockingBackend).map { Self.locks($0) } }
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
        case LD_STORE_CONDITIONAL where conditional != nil: AbilityTables.shared.conditional
        case LD_STORE_EXPIRY where expiry != nil: AbilityTables.shared.expiry
        case LD_STORE_LOCK where locks != nil: AbilityTables.shared.locks
        default: nil
        }
    }

    private static func enumeration<Backend: EnumerableBackend>(_ backend: Backend) -> Enumeration {
        Enumeration(
            names: { try backend.forEachName(in: $0, prefix: $1, after: $2, limit: $3, $4) },
            places: { try backend.forEachPlace($0) })
    }

    private static func attributes<Backend: AttributedBackend>(
        _ backend: Backend
    ) -> (Handle) throws -> ValueAttributes? {
        { try backend.attributes(of: KeyBox<Backend.Key>.key($0)) }
    }

    private static func streaming<Backend: StreamingBackend>(_ backend: Backend) -> Streaming {
        Streaming(
            read: { try backend.read(KeyBox<Backend.Key>.key($0), $1) },
            write: { try backend.write(KeyBox<Backend.Key>.key($0), attributes: $1, from: $2) })
    }

    private static func batch<Backend: BatchBackend>(
        _ backend: Backend
    ) -> (UnsafeBufferPointer<UnsafePointer<ld_operation>?>) throws -> Void {
        { operations in
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

    private static func watching<Backend: WatchableBackend>(_ backend: Backend) -> Watching {
        Watching(
            watch: { place, prefix, changed in
                Unmanaged.passRetained(KeyBox(try backend.watch(place, prefix: prefix, changed: changed))).toOpaque()
            },
            unwatch: { token in
                backend.unwatch(KeyBox<Backend.Watch>.key(token))
                Unmanaged<KeyBox<Backend.Watch>>.fromOpaque(token).release()
            })
    }

    private static func transactions<Backend: TransactionalBackend>(_ backend: Backend) -> AnyTransactionExport {
        TransactionExport(backend)
    }

    private static func verifying<Backend: VerifiableBackend>(
        _ backend: Backend
    ) -> (Handle) throws -> ValueState? {
        { try backend.verify(KeyBox<Backend.Key>.key($0)) }
    }

    private static func bulk<Backend: BulkBackend>(_ backend: Backend) -> AnyBulkExport { BulkExport(backend) }

    private static func conditional<Backend: ConditionalBackend>(_ backend: Backend) -> AnyConditionalExport {
        ConditionalExport(backend)
    }

    private static func expiry<Backend: ExpiringBackend>(_ backend: Backend) -> AnyExpiryExport {
        ExpiryExport(backend)
    }

    private static func locks<Backend: LockingBackend>(_ backend: Backend) -> AnyLockExport { LockExport(backend) }
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

    var wrappedValue: Value { (slot.box.load() ?? slot.box.storeIfNil(Box(make()))).value }
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
