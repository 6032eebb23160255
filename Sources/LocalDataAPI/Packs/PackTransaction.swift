internal import CLocalData

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The host's transaction for a Swift migration of a pack: usable from any task, while the host is called on only one
/// thread.
final class PackTransaction: StorageTransaction, @unchecked Sendable {
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
        var table = ld_migration_transaction()
        guard BoundaryStruct.copy(pointer, into: &table, least: ld_migration_transaction_least_size) else {
            throw StorageError(
                .unsupported,
                "a migration was called with a transaction of \(BoundaryStruct.size(pointer)) bytes; "
                    + "expected \(BoundaryStruct.sizes(least: ld_migration_transaction_least_size))",
                hint: "use a host of plugin ABI 1.1 or later")
        }
        return table
    }

    func data(for key: AnyStorageKey) async throws -> Data? {
        try await onItsThread(key) { table, key, error in
            var sink = ReceivedValue()
            let status = withUnsafeMutablePointer(to: &sink) { value in
                var sink = ld_sink(size: UInt32(MemoryLayout<ld_sink>.size), context: value, write: receiveValue)
                return table.get?(table.context, key, &sink, error) ?? LD_STOPPED
            }
            return (status, sink.data)
        }.result
    }

    /// - Throws: `deserializationFailed` if the key's own serializer cannot read the bytes.
    func setData(_ data: Data, for key: AnyStorageKey) async throws {
        try key.check(data)
        _ = try await onItsThread(key) { table, key, error in
            let status = data.withUnsafeBytes { bytes in
                table.set?(table.context, key, ld_bytes(data: bytes.baseAddress, count: bytes.count), error)
            }
            return (status ?? LD_STOPPED, Void?.none)
        }
    }

    func remove(_ key: AnyStorageKey) async throws {
        _ = try await onItsThread(key) { table, key, error in
            (table.remove?(table.context, key, error) ?? LD_STOPPED, Void?.none)
        }
    }

    func exists(_ key: AnyStorageKey) async throws -> Bool {
        try await onItsThread(key) { table, key, error in
            (table.exists?(table.context, key, error) ?? LD_STOPPED, Void?.none)
        }.isFound
    }

    func names(in domain: StorageDomain, prefix: String) async throws -> [String] {
        return try await onItsThread("\(domain)") { table, error in
            var names = ReceivedNames()
            let status = withUnsafeMutablePointer(to: &names) { names in
                var sink = ld_sink(size: UInt32(MemoryLayout<ld_sink>.size), context: names, write: receiveName)
                return "\(domain)".withBytes { place in
                    prefix.withBytes { table.names?(table.context, place, $0, &sink, error) ?? LD_STOPPED }
                }
            }
            return (status, names.names)
        }.result ?? []
    }

    func attributes(of key: AnyStorageKey) async throws -> ValueAttributes? {
        return try await onItsThread(key) { table, key, error in
            var received = ReceivedAttributes()
            let status = withUnsafeMutablePointer(to: &received) { received in
                table.attributes?(table.context, key, received, receiveAttributes, error) ?? LD_STOPPED
            }
            return (status, received.attributes)
        }.result
    }

    /// - Throws: `deserializationFailed` if the key's own serializer cannot read the bytes; a `MigrationError` if no
    ///   version of a key with versions reads them.
    func setData(_ data: Data, versionTag: String?, for key: AnyStorageKey) async throws {
        try key.check(data, versionTag: versionTag)
        _ = try await onItsThread(key) { table, key, error in
            let status = data.withUnsafeBytes { bytes in
                (versionTag ?? "").withBytes { tag in
                    table.set_tagged?(
                        table.context, key, ld_bytes(data: bytes.baseAddress, count: bytes.count), tag, error)
                }
            }
            return (status ?? LD_STOPPED, Void?.none)
        }
    }

    /// Calls the host on the allowed thread.
    private func onItsThread<Result: Sendable>(
        _ key: AnyStorageKey,
        _ call:
            @escaping @Sendable (
                ld_migration_transaction, UnsafePointer<ld_migration_key>, UnsafePointer<ld_error_sink>
            ) -> (status: Int32, result: Result?)
    ) async throws -> (isFound: Bool, result: Result?) {
        try await onItsThread(key.address) { table, error in
            var result: Result?
            let status = try key.withBoundary {
                let outcome = call(table, $0, error)
                result = outcome.result
                return outcome.status
            }
            return (status, result)
        }
    }

    /// The same for calls that concern no key.
    private func onItsThread<Result: Sendable>(
        _ what: String,
        _ call:
            @escaping @Sendable (ld_migration_transaction, UnsafePointer<ld_error_sink>) throws -> (
                status: Int32, result: Result?
            )
    ) async throws -> (isFound: Bool, result: Result?) {
        if executor.isCurrent { return try make(call, what) }
        return try await withCheckedThrowingContinuation { continuation in
            let isTaken = executor.submit {
                continuation.resume(with: Swift.Result { try self.make(call, what) })
            }
            if !isTaken { continuation.resume(throwing: Self.over(what)) }
        }
    }

    private func make<Result>(
        _ call: (ld_migration_transaction, UnsafePointer<ld_error_sink>) throws -> (status: Int32, result: Result?),
        _ what: String
    ) throws -> (isFound: Bool, result: Result?) {
        guard executor.isCurrent else { throw Self.over(what) }
        var report = ReceivedReport()
        let outcome = try withUnsafeMutablePointer(to: &report) { report in
            var sink = ld_error_sink(
                size: UInt32(MemoryLayout<ld_error_sink>.size), context: report, report: receiveReport)
            return try call(table, &sink)
        }
        if outcome.status == LD_OK || outcome.status == LD_ABSENT { return (outcome.status == LD_OK, outcome.result) }
        throw report.error
            ?? StorageError(
                .unknown, "the host returned status \(outcome.status) to a migration without reporting an error")
    }

    private static func over(_ what: String) -> StorageError {
        StorageError(
            .unsupported, "'\(what)' was used by a migration that has ended",
            hint: "return from migrate(using:context:) only after all its work is done")
    }
}

private struct ReceivedNames {
    var names: [String] = []
}

private func receiveName(context: UnsafeMutableRawPointer?, bytes: ld_bytes) -> Int32 {
    guard let context, let name = bytes.text else { return 1 }
    context.assumingMemoryBound(to: ReceivedNames.self).pointee.names.append(name)
    return 0
}

private struct ReceivedAttributes {
    var attributes: ValueAttributes?
}

private func receiveAttributes(context: UnsafeMutableRawPointer?, attributes: UnsafePointer<ld_attributes>?) {
    guard let context, let attributes else { return }
    context.assumingMemoryBound(to: ReceivedAttributes.self).pointee.attributes = try? ValueAttributes(attributes)
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
        StorageError.Code.reported(code), message.lenientText, hint: hint.lenientText)
}
