internal import Synchronization

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Brings the value of a key with a ``DataMigrator`` to the current version, in its place.
package struct ChainMigration<Value: Codable & Sendable>: StorageMigration {
    /// Where the value is left that was made, so that it need not be read again.
    package final class Outcome: Sendable {
        private let made = Mutex<Value?>(nil)

        /// The value, if this migration has made it.
        package var value: Value? { made.withLock { $0 } }

        fileprivate func set(_ value: Value) { made.withLock { $0 = value } }
    }

    package let destinationKey: StorageKey<Value>
    package let outcome = Outcome()
    private let chain: ValueChain<Value>
    private let converted: ConvertedValue?

    /// - Parameter converted: What the chain has made of the stored value already.
    package init(_ key: StorageKey<Value>, _ chain: ValueChain<Value>, converted: ConvertedValue? = nil) {
        (destinationKey, self.chain, self.converted) = (key, chain, converted)
    }

    package var id: String { "versions of \(destinationKey.domain)/\(destinationKey.name)" }
    package var sources: [AnyStorageKey] { [AnyStorageKey(destinationKey)] }
    package var conflictPolicy: MigrationConflictPolicy { .takeSource }
    package var summary: String { "brings the value to version '\(chain.versionTag)'" }

    package func shouldMigrate(using router: any StorageProviding, context: MigrationContext) async throws -> Bool {
        guard let attributes = try await router.attributes(of: AnyStorageKey(destinationKey)) else { return false }
        return attributes.versionTag != chain.versionTag
    }

    package func migrate(
        using router: any StorageProviding, context: MigrationContext
    ) async throws -> MigrationResult {
        let key = AnyStorageKey(destinationKey)
        let tag = try await router.attributes(of: key)?.versionTag
        guard let data = try await router.data(for: key) else { return MigrationResult(success: true) }
        guard try await router.attributes(of: key)?.versionTag == tag else {
            throw StorageError(.busy, "'\(key.address)' was changed while it was read", hint: "try again")
        }
        if let converted, converted.stored == data {
            try await router.setData(converted.current, versionTag: chain.versionTag, for: key)
            return MigrationResult(success: true, migratedCount: 1)
        }
        let current = try await chain.decode(data, versionTag: tag)
        let encoded = current.wasMigrated ? try chain.encode(current.value) : data
        // A value without a tag gets one.
        try await router.setData(encoded, versionTag: chain.versionTag, for: key)
        outcome.set(current.value)
        return MigrationResult(success: true, migratedCount: 1)
    }
}

extension ChainMigration: MadeMigration {
    package var origin: MigrationOrigin { .chain }
}
