internal import CLocalData
internal import FoundationEssentials

/// The host's transaction for a Swift migration of a pack: usable from any task, while the host is called on only one
/// thread.
final class PackTransaction: StorageProviding, @unchecked Sendable {
    // The table's functions are called only on the thread that the host allows, and only during the call.
    private let table: ld_migration_transaction
    private let executor: CallerThreadExecutor

    init(_ table: ld_migration_transaction, _ executor: CallerThreadExecutor) {
        self.table = table
        self.executor = executor
    }

    /// A copy of the host's table.
    static func table(
        _ pointer: UnsafePointer<ld_migration_transaction>?
    ) throws(StorageError) -> ld_migration_transaction {
        guard let pointer, pointer.pointee.size >= UInt32(MemoryLayout<ld_migration_transaction>.size) else {
            throw StorageError(.unsupported, "a migration was called without a transaction")
        }
        return pointer.pointee
    }

    func get<Value>(_ key: StorageKey<Value>) async throws -> Value {
        let any = AnyStorageKey(key)
        guard let data = try await data(for: any) else {
            throw StorageError(.notFound, "'\(key.domain)/\(key.name)' is not stored")
        }
        return try any.value(Value.self, from: data)
    }

    func set<Value>(_ value: Value, for key: StorageKey<Value>) async throws {
        try await setData(try key.serializer.encode(value), for: AnyStorageKey(key))
    }

    func remove<Value>(_ key: StorageKey<Value>) async throws { try await remove(AnyStorageKey(key)) }

    func exists<Value>(_ key: StorageKey<Value>) async throws -> Bool { try await exists(AnyStorageKey(key)) }

    func data(for key: AnyStorageKey) async throws -> Data? {
        try await onItsThread(key) { table, key, error in
            var sink = ReceivedValue()
            let status = withUnsafeMutablePointer(to: &sink) { value in
                var sink = ld_sink(size: UInt32(MemoryLayout<ld_sink>.size), context: value, write: receiveValue)
                return table.get?(table.context, key, &sink, error) ?? LD_STOPPED
            }
            return (status, sink.data)
        }.data
    }

    /// - Throws: `deserializationFailed` if the key's own serializer cannot read the bytes.
    func setData(_ data: Data, for key: AnyStorageKey) async throws {
        try key.check(data)
        _ = try await onItsThread(key) { table, key, error in
            let status = data.withUnsafeBytes { bytes in
                table.set?(table.context, key, ld_bytes(data: bytes.baseAddress, count: bytes.count), error)
            }
            return (status ?? LD_STOPPED, nil)
        }
    }

    func remove(_ key: AnyStorageKey) async throws {
        _ = try await onItsThread(key) { table, key, error in
            (table.remove?(table.context, key, error) ?? LD_STOPPED, nil)
        }
    }

    func exists(_ key: AnyStorageKey) async throws -> Bool {
        try await onItsThread(key) { table, key, error in
            (table.exists?(table.context, key, error) ?? LD_STOPPED, nil)
        }.isFound
    }

    private typealias Call =
        @Sendable (ld_migration_transaction, UnsafePointer<ld_migration_key>, UnsafePointer<ld_error_sink>) -> (
            status: Int32, data: Data?
        )

    /// Calls the host on the allowed thread.
    private func onItsThread(
        _ key: AnyStorageKey, _ call: @escaping Call
    ) async throws -> (isFound: Bool, data: Data?) {
        if executor.isCurrent { return try make(call, key) }
        return try await withCheckedThrowingContinuation { continuation in
            let isTaken = executor.submit {
                continuation.resume(with: Result { try self.make(call, key) })
            }
            if !isTaken { continuation.resume(throwing: Self.over(key)) }
        }
    }

    private func make(_ call: Call, _ key: AnyStorageKey) throws -> (isFound: Bool, data: Data?) {
        guard executor.isCurrent else { throw Self.over(key) }
        var report = ReceivedReport()
        var data: Data?
        let status = try withUnsafeMutablePointer(to: &report) { report in
            var sink = ld_error_sink(
                size: UInt32(MemoryLayout<ld_error_sink>.size), context: report, report: receiveReport)
            return try key.withBoundary {
                let outcome = call(table, $0, &sink)
                data = outcome.data
                return outcome.status
            }
        }
        if status == LD_OK || status == LD_ABSENT { return (status == LD_OK, data) }
        throw report.error
            ?? StorageError(
                .unknown, "the host returned status \(status) to a migration without reporting an error")
    }

    private static func over(_ key: AnyStorageKey) -> StorageError {
        StorageError(
            .unsupported,
            "'\(key.descriptor.domain)/\(key.descriptor.name)' was used by a migration that has ended",
            hint: "return from migrate(using:context:) only after all its work is done")
    }
}

private struct ReceivedValue {
    var data: Data?
}

private func receiveValue(context: UnsafeMutableRawPointer?, bytes: ld_bytes) -> Int32 {
    guard let context, let bytes = bytes.checked else { return 1 }
    context.assumingMemoryBound(to: ReceivedValue.self).pointee.data = Data(bytes)
    return 0
}

private struct ReceivedReport {
    var error: StorageError?
}

private func receiveReport(context: UnsafeMutableRawPointer?, code: Int32, message: ld_bytes, hint: ld_bytes) {
    context?.assumingMemoryBound(to: ReceivedReport.self).pointee.error = StorageError(
        StorageError.Code(rawValue: code), message.lenientText, hint: hint.lenientText)
}
