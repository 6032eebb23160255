internal import CLocalData
internal import FoundationEssentials
internal import Glibc
internal import LocalDataAPI
internal import Synchronization

/// One call of a pack's migration with its transaction: the host's side of `ld_migration_transaction`.
final class PackCall: Sendable {
    private struct State {
        var thread: pthread_t?
        var isCancelled = false
        var keys: [KeyBytes: AnyStorageKey] = [:]
    }

    /// Identifies a key, as the pack spells it.
    private struct KeyBytes: Hashable {
        let address: Data
        let serializer: Data
        let security: Data

        init(_ key: ld_migration_key) throws(StorageError) {
            func data(_ bytes: ld_bytes) throws(StorageError) -> Data {
                guard bytes.count <= Self.longest, let bytes = bytes.checked else {
                    throw StorageError(
                        .corrupt, "a migration named an invalid key: \(bytes.flaw(atMost: Self.longest))")
                }
                return Data(bytes)
            }
            address = try data(key.address)
            serializer = try data(key.serializer)
            security = try data(key.security)
        }

        /// The most bytes of each part: more than any key has.
        private static var longest: Int { 16 << 10 }
    }

    /// The call's number, which the pack receives.
    let number: UInt64
    private let provider: any StorageProviding
    private let known: [AnyStorageKey]
    private let state = Mutex(State())

    private static let count = Atomic<UInt64>(0)
    /// The running calls. A transaction is found by its number, so that one that a pack keeps is invalid.
    private static let running = Mutex<[UInt64: PackCall]>([:])

    /// - Parameter known: The keys of the migration's description, of which more is known than the pack says in a call.
    init(_ provider: any StorageProviding, known: [AnyStorageKey]) {
        number = Self.count.wrappingAdd(1, ordering: .relaxed).newValue
        self.provider = provider
        self.known = known
    }

    /// Lends the transaction to this thread for the duration of `body`.
    func run<Value>(
        _ body: (UnsafePointer<ld_migration_transaction>) throws(StorageError) -> Value
    ) throws(StorageError) -> Value {
        state.withLock { $0.thread = pthread_self() }
        Self.running.withLock { $0[number] = self }
        defer { Self.running.withLock { $0[number] = nil } }
        var table = ld_migration_transaction(
            size: UInt32(MemoryLayout<ld_migration_transaction>.size), reserved: 0,
            context: UnsafeMutableRawPointer(bitPattern: UInt(number)), call: number, get: transactionGet,
            exists: transactionExists, set: transactionSet, remove: transactionRemove,
            is_cancelled: transactionIsCancelled, names: transactionNames, attributes: transactionAttributes,
            set_tagged: transactionSetTagged)
        return try withUnsafePointer(to: &table, body)
    }

    /// Refuses all further requests of the pack.
    func cancel() { state.withLock { $0.isCancelled = true } }

    fileprivate static func isCancelled(_ context: UnsafeMutableRawPointer?) -> Bool {
        find(context)?.state.withLock { $0.isCancelled } ?? true
    }

    private static func find(_ context: UnsafeMutableRawPointer?) -> PackCall? {
        running.withLock { $0[UInt64(UInt(bitPattern: context))] }
    }

    /// The call of a transaction, if it may be used here and now, and the requested key.
    fileprivate static func use(
        _ context: UnsafeMutableRawPointer?, _ key: UnsafePointer<ld_migration_key>?
    ) throws -> (call: PackCall, key: AnyStorageKey) {
        let call = try use(context)
        var known = ld_migration_key()
        guard BoundaryStruct.copy(key, into: &known, least: ld_migration_key_least_size) else {
            throw StorageError(
                .unsupported, "a transaction was called with a key of \(BoundaryStruct.size(key)) bytes",
                hint: "its size is \(BoundaryStruct.sizes(least: ld_migration_key_least_size))")
        }
        return (call, try call.key(known))
    }

    /// The call of a transaction, if it may be used here and now.
    fileprivate static func use(_ context: UnsafeMutableRawPointer?) throws(StorageError) -> PackCall {
        guard let call = find(context) else {
            throw StorageError(
                .unsupported, "a transaction was used after its migration had ended",
                hint: "use it only until its call returns")
        }
        try call.state.withLock { state throws(StorageError) in try check(state) }
        return call
    }

    private static func check(_ state: borrowing State) throws(StorageError) {
        guard let thread = state.thread, pthread_equal(thread, pthread_self()) != 0 else {
            throw StorageError(
                .unsupported,
                "a transaction was used on a thread other than its migration's",
                hint: "use it only on that thread")
        }
        guard !state.isCancelled else {
            throw StorageError(
                .cancelled, "the migration was cancelled: it took too long, or its caller stopped waiting")
        }
    }

    private func key(_ key: ld_migration_key) throws(StorageError) -> AnyStorageKey {
        try state.withLock { state throws(StorageError) in
            let bytes = try KeyBytes(key)
            if let key = state.keys[bytes] { return key }
            let named = try AnyStorageKey(key)
            let found = known.first { $0.descriptor.isAlike(named.descriptor) } ?? named
            if state.keys.count < Self.mostKeys { state.keys[bytes] = found }
            return found
        }
    }

    /// The most keys to remember.
    private static let mostKeys = 1024

    /// Executes the pack's request and waits for it here.
    fileprivate func wait<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageProviding) async throws -> Value
    ) throws -> Value {
        let provider = provider
        return try CallerThreadExecutor.run { _ in try await body(provider) }
    }
}

extension StorageKeyDescriptor {
    /// Whether both descriptions access the same value in the same way.
    fileprivate func isAlike(_ other: StorageKeyDescriptor) -> Bool {
        domain == other.domain && name.hasBytes(of: other.name) && serializer == other.serializer
            && security == other.security
    }
}

private func known(_ sink: UnsafePointer<ld_sink>?, _ function: String) throws(StorageError) -> ld_sink {
    var known = ld_sink()
    guard BoundaryStruct.copy(sink, into: &known, least: ld_sink_least_size) else {
        throw StorageError(
            .unsupported, "\(function) was called with a sink of \(BoundaryStruct.size(sink)) bytes",
            hint: "its size is \(BoundaryStruct.sizes(least: ld_sink_least_size))")
    }
    return known
}

private func transactionGet(
    context: UnsafeMutableRawPointer?, key: UnsafePointer<ld_migration_key>?, sink: UnsafePointer<ld_sink>?,
    error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        let (call, key) = try PackCall.use(context, key)
        let sink = try known(sink, "get")
        guard let data = try call.wait({ try await $0.data(for: key) }) else { return LD_ABSENT }
        return data.withUnsafeBytes { sink.write?(sink.context, ld_bytes($0)) } == 0 ? LD_OK : LD_STOPPED
    }
}

private func transactionExists(
    context: UnsafeMutableRawPointer?, key: UnsafePointer<ld_migration_key>?, error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        let (call, key) = try PackCall.use(context, key)
        return try call.wait { try await $0.exists(key) } ? LD_OK : LD_ABSENT
    }
}

private func transactionSet(
    context: UnsafeMutableRawPointer?, key: UnsafePointer<ld_migration_key>?, value: ld_bytes,
    error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        let (call, key) = try PackCall.use(context, key)
        let data = Data(try value.bytes())
        try call.wait { try await $0.setData(data, for: key) }
        return LD_OK
    }
}

private func transactionRemove(
    context: UnsafeMutableRawPointer?, key: UnsafePointer<ld_migration_key>?, error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        let (call, key) = try PackCall.use(context, key)
        try call.wait { try await $0.remove(key) }
        return LD_OK
    }
}

private func transactionNames(
    context: UnsafeMutableRawPointer?, place: ld_bytes, prefix: ld_bytes, sink: UnsafePointer<ld_sink>?,
    error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        let call = try PackCall.use(context)
        let sink = try known(sink, "names")
        guard let place = place.text, let prefix = prefix.text else {
            throw StorageError(.invalidAddress, "a place or prefix at the plugin boundary is not UTF-8")
        }
        let domain = try StorageDomain(address: place)
        for name in try call.wait({ try await $0.names(in: domain, prefix: prefix) }) {
            guard name.withBytes({ sink.write?(sink.context, $0) }) == 0 else { return LD_STOPPED }
        }
        return LD_OK
    }
}

private func transactionAttributes(
    context: UnsafeMutableRawPointer?, key: UnsafePointer<ld_migration_key>?, taker: UnsafeMutableRawPointer?,
    take: (@convention(c) (UnsafeMutableRawPointer?, UnsafePointer<ld_attributes>?) -> Void)?,
    error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        let (call, key) = try PackCall.use(context, key)
        guard let attributes = try call.wait({ try await $0.attributes(of: key) }) else { return LD_ABSENT }
        return attributes.withBoundary {
            take?(taker, $0)
            return LD_OK
        }
    }
}

private func transactionSetTagged(
    context: UnsafeMutableRawPointer?, key: UnsafePointer<ld_migration_key>?, value: ld_bytes, tag: ld_bytes,
    error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        let (call, key) = try PackCall.use(context, key)
        let data = Data(try value.bytes())
        guard let tag = tag.text else {
            throw StorageError(.unsupported, "a version tag at the plugin boundary is not UTF-8")
        }
        try call.wait { try await $0.setData(data, versionTag: tag.isEmpty ? nil : tag, for: key) }
        return LD_OK
    }
}

private func transactionIsCancelled(context: UnsafeMutableRawPointer?) -> Int32 {
    PackCall.isCancelled(context) ? 1 : 0
}
