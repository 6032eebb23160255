internal import Synchronization

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// A key's chain of versions, without the type of its migrator: reads stored bytes of any version. Its errors name the
/// key.
package final class ValueChain<Value: Codable & Sendable>: Sendable {
    /// The version tag of the current version.
    package let versionTag: String
    /// The version tags of all versions.
    package let versionTags: Set<String>
    /// What happens to a value that none of them reads.
    package let ifUndecodable: UndecodablePolicy
    private let address: String
    private let warnings: [String]
    private let hasWarned = Atomic(false)
    private let decodeAction: @Sendable (Data, String?) async throws(MigrationError) -> ChainedValue<Value>
    private let encodeAction: @Sendable (Value) throws(MigrationError) -> Data
    private let checkAction: @Sendable (Data, String?) throws(MigrationError) -> Void

    init(
        _ migrator: DataMigrator<Value>, _ serializer: Serializer<Value>, ifUndecodable: UndecodablePolicy,
        of address: String
    ) where Value: Equatable {
        versionTag = migrator.versionTag
        versionTags = Set(migrator.versionTags)
        self.ifUndecodable = ifUndecodable
        self.address = address
        warnings = migrator.warnings
        decodeAction = { (data, tag) async throws(MigrationError) in
            try await migrator.decode(data, versionTag: tag, serializer)
        }
        encodeAction = { (value) throws(MigrationError) in try DataMigrator.encoded(value, serializer) }
        checkAction = { (data, tag) throws(MigrationError) in try migrator.check(data, versionTag: tag, serializer) }
    }

    /// What is to be logged about the chain, the first time; then nothing.
    package func takeWarnings() -> [String] {
        guard !warnings.isEmpty, !hasWarned.exchange(true, ordering: .relaxed) else { return [] }
        return warnings.map { "'\(address)': \($0)" }
    }

    /// The bytes of a value that converters have made; see `DataMigrator`.
    func encode(_ value: Value) throws(MigrationError) -> Data {
        do { return try encodeAction(value) } catch { throw naming(error) }
    }

    /// Throws if no version reads the bytes; runs no converter.
    package func check(_ data: Data, versionTag: String?) throws(MigrationError) {
        do { try checkAction(data, versionTag) } catch { throw naming(error) }
    }

    /// The value in stored bytes, brought to the current version.
    ///
    /// - Throws: What ``DataMigrator/migrate(data:versionTag:)`` throws.
    package func decode(_ data: Data, versionTag: String?) async throws(MigrationError) -> ChainedValue<Value> {
        do { return try await decodeAction(data, versionTag) } catch { throw naming(error) }
    }

    private func naming(_ error: MigrationError) -> MigrationError {
        MigrationError(
            error.code, "'\(address)': \(error.message)", underlying: error.underlying, from: error.from)
    }
}

/// A value that was brought to the current version of a chain.
package struct ConvertedValue: Sendable {
    /// The bytes that were stored.
    package let stored: Data
    package let current: Data

    package init(stored: Data, current: Data) { (self.stored, self.current) = (stored, current) }
}

/// The chain of a key whose type is not known.
package struct AnyValueChain: Sendable {
    /// The version tag of the current version.
    package let versionTag: String
    /// What happens to a value that no version reads.
    package let ifUndecodable: UndecodablePolicy
    /// Throws if no version reads the bytes; runs no converter.
    package let check: @Sendable (Data, String?) throws(MigrationError) -> Void
    /// The bytes as ``migration`` stores them. Throws if they cannot be brought to the current version.
    package let convert: @Sendable (Data, String?) async throws(MigrationError) -> Data
    /// The migration that brings a stored value to the current version; what ``convert`` has made is not converted
    /// again, since converters may make something else each time.
    package let migration: @Sendable (ConvertedValue?) -> AnyStorageMigration

    init?<Value>(_ key: StorageKey<Value>) {
        guard let chain = key.chain else { return nil }
        versionTag = chain.versionTag
        ifUndecodable = chain.ifUndecodable
        check = { (data, tag) throws(MigrationError) in try chain.check(data, versionTag: tag) }
        convert = { (data, tag) async throws(MigrationError) in
            let current = try await chain.decode(data, versionTag: tag)
            return current.wasMigrated ? try chain.encode(current.value) : data
        }
        migration = { AnyStorageMigration(ChainMigration(key, chain, converted: $0)) }
    }
}
