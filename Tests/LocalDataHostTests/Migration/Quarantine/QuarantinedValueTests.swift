import FoundationEssentials
import LocalDataAPI
import Testing
@testable import HostPlugins
@testable import LocalDataHost

@Suite("A value in quarantine") struct QuarantinedValueTests {
    /// The first release's type, which the second one has forgotten.
    private struct V0: Codable, Equatable { var line: String }

    /// The third release's key, which knows it again.
    private static func mended(_ domain: StorageDomain) throws -> StorageKey<Note.V3> {
        let builder = DataMigrator<Note.V3>.Builder(targetType: Note.V3.self)
        builder.register(from: V0.self, to: Note.V3.self) { Note.V3(title: $0.line, tags: ["converted"]) }
        let plain: StorageKey<Note.V3> = MigrationHome.key("note", domain)
        return StorageKey(
            name: "note", domain: domain, security: plain.security, owner: "tests", description: "a note",
            migrator: try builder.build(), ifUndecodable: .quarantine)
    }

    /// Release 1 stores a value, and release 2 puts it into quarantine.
    private static func home(_ domain: StorageDomain) async throws -> (MigrationHome, StorageRouter) {
        let home = try MigrationHome()
        try await home.router().set(V0(line: "hello"), for: Note.old(V0.self, "note", domain))
        let router = try home.router()
        await #expect(throws: StorageError.notFound) {
            try await router.get(Note.key("note", domain, ifUndecodable: .quarantine))
        }
        #expect(try await router.quarantine.list().values.count == 1)
        return (home, router)
    }

    @Test("comes back with the release that reads it", arguments: MigrationHome.domains)
    func comesBack(domain: StorageDomain) async throws {
        let (home, _) = try await Self.home(domain)
        defer { home.remove() }
        // The same release does not read it the next time either.
        await #expect(throws: StorageError.notFound) {
            try await home.router().get(Note.key("note", domain, ifUndecodable: .quarantine))
        }
        let router = try home.router()
        #expect(try await router.get(Self.mended(domain)) == Note.V3(title: "hello", tags: ["converted"]))
        #expect(try await router.quarantine.list().values.isEmpty)
        #expect(try await home.router().get(Self.mended(domain)).title == "hello")
    }

    @Test("does not come back once the key was set or removed", arguments: MigrationHome.domains, [false, true])
    func changed(domain: StorageDomain, removes: Bool) async throws {
        let (home, router) = try await Self.home(domain)
        defer { home.remove() }
        let key = try Note.key("note", domain, ifUndecodable: .quarantine)
        if !removes { try await router.set(Note.V3(title: "mine", tags: []), for: key) }
        try await router.remove(key)
        let next = try home.router()
        await #expect(throws: StorageError.notFound) { try await next.get(Self.mended(domain)) }
        #expect(try await next.quarantine.list().values.count == 1)
    }

    @Test(
        "is none that a version decodes: an upgrade finds sets and dictionaries, whatever their order", arguments: 0..<8
    )
    func upgrade(number: Int) async throws {
        struct Old: Codable, Equatable {
            var tags: Set<String>
            var hours: [Int: Set<Int>]
        }
        struct New: Codable, Equatable { var tags: [String] }
        struct Favourites: VaultStorable {
            static let security = SecurityPolicy.none
            static let defaultValue = New(tags: [])
            static func configure(builder: DataMigrator<New>.Builder) {
                builder.register(from: Old.self, to: New.self) { New(tags: $0.tags.sorted()) }
            }
        }
        let home = try MigrationHome()
        defer { home.remove() }
        // As a process with another hash seed has written it.
        let tags = ["swift", "linux", "data", "keys", "sets"]
        let order = (0..<tags.count).map { tags[($0 * (number % 4 + 1) + number) % tags.count] }
        let list = order.map { "\"\($0)\"" }.joined(separator: ",")
        let plain: StorageKey<Old> = MigrationHome.key("Favourites", .userDefaults())
        try await home.router().setData(Data(#"{"hours":{"1":[3,1,2]},"tags":[\#(list)]}"#.utf8), for: .key(plain))
        let router = try home.router()
        let stored = VaultStored(Favourites.self, router: router)
        await stored.projectedValue.initializationTask.value
        #expect(stored.projectedValue.error == nil)
        #expect(stored.wrappedValue.tags == tags.sorted())
        #expect(try await router.quarantine.list().values.isEmpty)
    }
}
