import LocalDataAPI
import TestSupport
import Testing
@testable import LocalDataHost

/// Versions of one value, and the log of its chain's conversions.
enum Note {
    struct V1: Codable, Equatable { var text: String }
    struct V2: Codable, Equatable {
        var text: String
        var tags: [String]
    }
    struct V3: Codable, Equatable, VersionedValue {
        static let version = 3
        var title: String
        var tags: [String]
    }

    static func migrator(counting count: ConversionCount = ConversionCount()) throws -> DataMigrator<V3> {
        let builder = DataMigrator<V3>.Builder(targetType: V3.self)
        builder
            .register(from: V1.self, to: V2.self) { v1 in
                count.add()
                return V2(text: v1.text, tags: [])
            }
            .register(from: V2.self, to: V3.self) { v2 in
                guard v2.text != "refused" else { throw StorageError(.unsupported, "the text is refused") }
                return V3(title: v2.text, tags: v2.tags)
            }
        return try builder.build()
    }

    static func key(
        _ name: String, _ domain: StorageDomain, counting count: ConversionCount = ConversionCount(),
        ifUndecodable: UndecodablePolicy = .fail
    ) throws -> StorageKey<V3> {
        let plain: StorageKey<V3> = MigrationHome.key(name, domain)
        return StorageKey(
            name: name, domain: domain, security: plain.security, owner: "tests", description: "a note",
            migrator: try migrator(counting: count), ifUndecodable: ifUndecodable)
    }

    /// A key for the same location without versions, as an earlier program used it.
    static func old<Value>(_ type: Value.Type, _ name: String, _ domain: StorageDomain) -> StorageKey<Value> {
        MigrationHome.key(name, domain)
    }
}
