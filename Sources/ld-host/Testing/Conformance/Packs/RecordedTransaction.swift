internal import CLocalData
internal import FoundationEssentials
internal import Glibc
internal import HostPlugins
internal import LocalDataAPI
internal import Synchronization

/// The host's side of a migration: values in memory, a record of the pack's calls and of the rules that it breaks. It
/// must outlive the pack, which may keep it.
final class RecordedTransaction: Sendable {
    /// How a transaction behaves.
    struct Conduct: Sendable {
        var values: [String: Data] = [:]
        /// The index of the call that fails with `noSpace`, from 0.
        var failingCall: Int?
        /// Whether the host has cancelled the migration.
        var isCancelled = false
        /// Called with the index of each call, from 0, before it is executed; may wait for others.
        var meeting: (@Sendable (Int) -> Void)?
    }

    struct State: Sendable {
        /// The values that were set, and `nil` for those that were removed.
        var staged: [String: Data?] = [:]
        var calls = 0
        var callsFromOtherThreads = 0
        var callsAfterTheEnd = 0
        fileprivate var isOver = false
    }

    let number: UInt64
    let conduct: Conduct
    private let state = Mutex(State())
    private let thread = pthread_self()
    private static let count = Atomic<UInt64>(0)

    init(_ conduct: Conduct) {
        self.conduct = conduct
        number = Self.count.wrappingAdd(1, ordering: .relaxed).newValue
    }

    /// The calls so far.
    var record: State { state.withLock { $0 } }

    /// Lends the table for the duration of `body`.
    func lend<Value>(_ body: (UnsafePointer<ld_migration_transaction>) -> Value) -> Value {
        var table = ld_migration_transaction(
            size: UInt32(MemoryLayout<ld_migration_transaction>.size), reserved: 0,
            context: Unmanaged.passUnretained(self).toOpaque(), call: number, get: recordGet, exists: recordExists,
            set: recordSet, remove: recordRemove, is_cancelled: recordIsCancelled, names: recordNames,
            attributes: recordAttributes, set_tagged: recordSetTagged)
        defer { state.withLock { $0.isOver = true } }
        return body(&table)
    }

    fileprivate static func of(_ context: UnsafeMutableRawPointer?) -> RecordedTransaction? {
        context.map { Unmanaged<RecordedTransaction>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Counts a call and returns the address that it concerns.
    fileprivate func address(_ key: UnsafePointer<ld_migration_key>?) throws -> String {
        try count()
        guard let key else { throw StorageError(.unsupported, "a transaction was called without a key") }
        return try AnyStorageKey(key.pointee).address
    }

    /// Counts a call.
    fileprivate func count() throws {
        let call = try state.withLock { state in
            guard !state.isOver else {
                state.callsAfterTheEnd += 1
                throw StorageError(.unsupported, "a transaction was used after its migration had ended")
            }
            guard pthread_equal(thread, pthread_self()) != 0 else {
                state.callsFromOtherThreads += 1
                throw StorageError(.unsupported, "a transaction was used on another thread")
            }
            defer { state.calls += 1 }
            return state.calls
        }
        conduct.meeting?(call)
        if conduct.isCancelled { throw StorageError(.cancelled, "the migration was cancelled") }
        if call == conduct.failingCall { throw StorageError(.noSpace, "the device is full") }
    }

    /// The names in a place, with what is staged.
    fileprivate func names(in place: String, prefix: String) -> [String] {
        let staged = state.withLock { $0.staged }
        let addresses = Set(conduct.values.keys).union(staged.keys).filter { address in
            address.hasPrefix("\(place)/\(prefix)") && value(address) != nil
        }
        let names = addresses.map { String($0.dropFirst(place.count + 1)) }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    fileprivate func value(_ address: String) -> Data? {
        state.withLock { $0.staged[address] ?? conduct.values[address] }
    }

    fileprivate func stage(_ value: Data?, at address: String) {
        state.withLock { $0.staged[address] = .some(value) }
    }
}

private func recordGet(
    context: UnsafeMutableRawPointer?, key: UnsafePointer<ld_migration_key>?, sink: UnsafePointer<ld_sink>?,
    error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        guard let transaction = RecordedTransaction.of(context), let sink else { return LD_STOPPED }
        guard let value = transaction.value(try transaction.address(key)) else { return LD_ABSENT }
        return sink.send(value.bytes) ? LD_OK : LD_STOPPED
    }
}

private func recordExists(
    context: UnsafeMutableRawPointer?, key: UnsafePointer<ld_migration_key>?, error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        guard let transaction = RecordedTransaction.of(context) else { return LD_STOPPED }
        return transaction.value(try transaction.address(key)) == nil ? LD_ABSENT : LD_OK
    }
}

private func recordSet(
    context: UnsafeMutableRawPointer?, key: UnsafePointer<ld_migration_key>?, value: ld_bytes,
    error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        guard let transaction = RecordedTransaction.of(context) else { return LD_STOPPED }
        transaction.stage(Data(try value.bytes()), at: try transaction.address(key))
        return LD_OK
    }
}

private func recordRemove(
    context: UnsafeMutableRawPointer?, key: UnsafePointer<ld_migration_key>?, error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        guard let transaction = RecordedTransaction.of(context) else { return LD_STOPPED }
        transaction.stage(nil, at: try transaction.address(key))
        return LD_OK
    }
}

private func recordNames(
    context: UnsafeMutableRawPointer?, place: ld_bytes, prefix: ld_bytes, sink: UnsafePointer<ld_sink>?,
    error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        guard let transaction = RecordedTransaction.of(context), let sink else { return LD_STOPPED }
        try transaction.count()
        for name in transaction.names(in: place.lenientText, prefix: prefix.lenientText) {
            guard name.withBytes({ sink.pointee.write?(sink.pointee.context, $0) }) == 0 else { return LD_STOPPED }
        }
        return LD_OK
    }
}

private func recordAttributes(
    context: UnsafeMutableRawPointer?, key: UnsafePointer<ld_migration_key>?, taker: UnsafeMutableRawPointer?,
    take: (@convention(c) (UnsafeMutableRawPointer?, UnsafePointer<ld_attributes>?) -> Void)?,
    error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        guard let transaction = RecordedTransaction.of(context) else { return LD_STOPPED }
        guard let value = transaction.value(try transaction.address(key)) else { return LD_ABSENT }
        return ValueAttributes(size: UInt64(value.count)).withBoundary {
            take?(taker, $0)
            return LD_OK
        }
    }
}

private func recordSetTagged(
    context: UnsafeMutableRawPointer?, key: UnsafePointer<ld_migration_key>?, value: ld_bytes, tag: ld_bytes,
    error: UnsafePointer<ld_error_sink>?
) -> Int32 { recordSet(context: context, key: key, value: value, error: error) }

private func recordIsCancelled(context: UnsafeMutableRawPointer?) -> Int32 {
    RecordedTransaction.of(context)?.conduct.isCancelled == true ? 1 : 0
}
