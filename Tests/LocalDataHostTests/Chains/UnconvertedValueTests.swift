import FoundationEssentials
import LocalDataAPI
import Synchronization
import Testing
@testable import LocalDataHost

/// A service that a converter needs, and that may be offline.
private final class Service: Sendable {
    private let state = Atomic(false)
    var isOnline: Bool {
        get { state.load(ordering: .relaxed) }
        set { state.store(newValue, ordering: .relaxed) }
    }

    /// Release 2 of a key with notes, whose converter needs the service.
    func key(_ domain: StorageDomain, ifUndecodable: UndecodablePolicy) throws -> StorageKey<Note.V2> {
        let builder = DataMigrator<Note.V2>.Builder(targetType: Note.V2.self)
        builder.register(from: Note.V1.self, to: Note.V2.self) { v1 in
            // The code would put the value into quarantine if it were the chain's.
            guard self.isOnline else { throw MigrationError(.decodingFailed, "the service is offline") }
            return Note.V2(text: v1.text, tags: ["converted"])
        }
        let plain: StorageKey<Note.V2> = MigrationHome.key("note", domain)
        return StorageKey(
            name: "note", domain: domain, security: plain.security, owner: "tests", description: "a note",
            migrator: try builder.build(), ifUndecodable: ifUndecodable)
    }
}

@Suite("A value that a converter refuses") struct UnconvertedValueTests {
    @Test(
        "stays where it is, and the next read converts it again",
        arguments: MigrationHome.domains, [UndecodablePolicy.fail, .quarantine])
    func stays(domain: StorageDomain, policy: UndecodablePolicy) async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        try await home.router().set(Note.V1(text: "hello"), for: Note.old(Note.V1.self, "note", domain))
        let service = Service()
        let router = try home.router()
        let key = try service.key(domain, ifUndecodable: policy)
        for _ in 0..<2 {
            let error = await MigrationError.of { try await router.get(key) }
            #expect(error?.code == .transformationFailed, "\(error?.message ?? "")")
            #expect(error?.message.contains("\(domain)/note") == true && error?.message.contains("offline") == true)
        }
        #expect(try await router.quarantine.list().values.isEmpty)
        #expect(try await router.exists(key))
        service.isOnline = true
        #expect(try await home.router().get(service.key(domain, ifUndecodable: policy)).tags == ["converted"])
        #expect(try await router.get(key) == Note.V2(text: "hello", tags: ["converted"]))
    }

    @Test("is shown as the default, and no edit of a property replaces it") func property() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let domain = StorageDomain.fileSystem()
        let old = Note.old(Note.V1.self, "note", domain)
        try await home.router().set(Note.V1(text: "hello"), for: old)
        let service = Service()
        let router = try home.router()
        let stored = StoredValue(
            try service.key(domain, ifUndecodable: .quarantine), default: Note.V2(text: "default", tags: []),
            router: router)
        await #expect(throws: MigrationError.transformationFailed) { try await stored.load() }
        #expect(stored.value.text == "default")
        stored.value.text = "edited"
        await #expect(throws: MigrationError.transformationFailed) { try await stored.save() }
        #expect(try await home.router().get(old) == Note.V1(text: "hello"))
        service.isOnline = true
        stored.value.tags = ["edited"]
        try await stored.save()
        #expect(try await home.router().get(service.key(domain, ifUndecodable: .quarantine)).tags == ["edited"])
    }

    @Test("is kept in quarantine when the app sets another one", arguments: MigrationHome.domains)
    func replaced(domain: StorageDomain) async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        try await home.router().set(Note.V1(text: "hello"), for: Note.old(Note.V1.self, "note", domain))
        let router = try home.router()
        let key = try Service().key(domain, ifUndecodable: .quarantine)
        for text in ["mine", "mine again"] { try await router.set(Note.V2(text: text, tags: []), for: key) }
        let kept = try #require(try await router.quarantine.list().values.first)
        #expect(try await router.quarantine.list().values.count == 1)
        #expect(try await router.quarantine.value(kept.id).data == Data(#"{"text":"hello"}"#.utf8))
        #expect(kept.reason.contains("offline"), "\(kept.reason)")
        #expect(try await home.router().get(key).text == "mine again")
    }
}
