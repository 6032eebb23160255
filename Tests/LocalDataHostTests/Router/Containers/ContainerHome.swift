import FoundationEssentials
import LocalDataAPI

@testable import LocalDataHost

/// A folder with stores of containers. Each router represents a launch of the app, which may be of another release.
struct ContainerHome {
    let home: MigrationHome

    init() throws { home = try MigrationHome() }

    func remove() { home.remove() }

    /// The next launch.
    func launch(_ text: String = "") throws -> StorageRouter { try home.router(text) }

    static func key<Value>(_ name: String, _ domain: StorageDomain = .userDefaults()) -> StorageKey<Value> {
        MigrationHome.key(name, domain)
    }
}

extension StorageRouter {
    /// Stores values as an earlier release has stored them.
    func fill(_ values: [String: some Codable & Sendable], in domain: StorageDomain = .userDefaults()) async throws {
        for (name, value) in values { try await set(value, for: ContainerHome.key(name, domain)) }
    }

    /// All names and values of a domain as JSON.
    func content(of domain: StorageDomain = .userDefaults()) async throws -> [String: String] {
        var content: [String: String] = [:]
        for name in try await names(in: domain, prefix: "") {
            let key = AnyStorageKey(StorageKeyDescriptor(name: name, domain: domain))
            content[name] = try await data(for: key).map { String(decoding: $0, as: UTF8.self) }
        }
        return content
    }
}

/// Migrates a container of a given shape, like a launch of the release with that shape.
@discardableResult
func migrate(
    _ container: ContainerDefinition, _ steps: [ContainerStep], in router: StorageRouter,
    others: [ContainerDefinition] = []
) async throws -> ContainerProgress {
    try await router.migrateContainer(ContainerChain(container, steps, others: others))
}
