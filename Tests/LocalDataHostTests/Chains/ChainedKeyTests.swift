import FoundationEssentials
import LocalDataAPI
import Synchronization
import TestSupport
import Testing
@testable import HostMigration
@testable import LocalDataHost

/// Counts calls.
final class ConversionCount: Sendable {
    private let number = Atomic(0)
    var value: Int { number.load(ordering: .relaxed) }
    func add() { number.add(1, ordering: .relaxed) }
}

@Suite("A key with versions") struct ChainedKeyTests {
    private static let domains = MigrationHome.domains

    @Test("its value is converted to the current version once, and stored in it", arguments: domains)
    func once(domain: StorageDomain) async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        try await home.router().set(Note.V1(text: "hello"), for: Note.old(Note.V1.self, "note", domain))
        let count = ConversionCount()
        for _ in 0..<3 {
            let router = try home.router()
            let key = try Note.key("note", domain, counting: count)
            #expect(try await router.get(key) == Note.V3(title: "hello", tags: []))
            #expect(try await router.get(key).title == "hello")
            #expect(try await router.attributes(of: AnyStorageKey(key))?.versionTag == "3")
        }
        #expect(count.value == 1)
        let raw = try await home.router().data(for: AnyStorageKey(Note.old(Note.V3.self, "note", domain)))
        #expect(String(decoding: raw ?? Data(), as: UTF8.self) == #"{"tags":[],"title":"hello"}"#)
    }

    @Test("a stored value has its version's tag in every store", arguments: domains)
    func tags(domain: StorageDomain) async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router()
        let key = try Note.key("note", domain)
        try await router.set(Note.V3(title: "new", tags: ["a"]), for: key)
        #expect(try await router.attributes(of: AnyStorageKey(key))?.versionTag == "3")
        #expect(try await home.router().get(Note.key("note", domain)) == Note.V3(title: "new", tags: ["a"]))
    }

    @Test("a current value without a tag gets one, and stays as it is", arguments: domains)
    func untagged(domain: StorageDomain) async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let value = Note.V3(title: "hello", tags: ["b"])
        try await home.router().set(value, for: Note.old(Note.V3.self, "note", domain))
        let router = try home.router()
        let key = try Note.key("note", domain)
        #expect(try await router.get(key) == value)
        #expect(try await router.attributes(of: AnyStorageKey(key))?.versionTag == "3")
    }

    @Test("a value of a later version is neither read nor replaced, and no default hides it", arguments: domains)
    func newer(domain: StorageDomain) async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let later = Data(#"{"title":"later","tags":[],"pages":[1]}"#.utf8)
        let plain = AnyStorageKey(Note.old(Note.V3.self, "note", domain))
        try await home.router().setData(later, versionTag: "4", for: plain)
        for policy in [UndecodablePolicy.fail, .quarantine] {
            let router = try home.router()
            let key = try Note.key("note", domain, ifUndecodable: policy)
            try await router.registerDefault(Note.V3(title: "default", tags: []), for: key)
            await #expect(throws: MigrationError.newerVersion) { try await router.get(key) }
            let error = await MigrationError.of { try await router.set(Note.V3(title: "x", tags: []), for: key) }
            #expect(error?.code == .newerVersion, "\(policy): \(error?.message ?? "")")
            #expect(try await router.quarantine.list().values.isEmpty)
        }
        #expect(try await home.router().data(for: plain) == later)
        #expect(try await home.router().attributes(of: plain)?.versionTag == "4")
    }

    @Test("a value that no version reads stays where it is; the first set puts it aside", arguments: domains)
    func undecodable(domain: StorageDomain) async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let foreign = Data(#"{"what":"is this"}"#.utf8)
        let plain = AnyStorageKey(Note.old(Note.V3.self, "note", domain))
        try await home.router().setData(foreign, for: plain)
        let router = try home.router()
        let key = try Note.key("note", domain)
        try await router.registerDefault(Note.V3(title: "default", tags: []), for: key)
        for _ in 0..<2 { await #expect(throws: MigrationError.decodingFailed) { try await router.get(key) } }
        #expect(try await router.data(for: plain) == foreign)
        #expect(try await router.quarantine.list().values.isEmpty)
        for title in ["mine", "mine again"] { try await router.set(Note.V3(title: title, tags: []), for: key) }
        let found = try await router.quarantine.list()
        #expect(found.values.count == 1 && found.failures.isEmpty)
        let kept = try #require(found.values.first)
        #expect(kept.address == "\(domain)/note" && kept.size == foreign.count, "\(kept)")
        #expect(try await router.quarantine.value(kept.id).data == foreign)
        let refusal = await #expect(throws: StorageError.self) { try await router.quarantine.restore(kept.id) }
        #expect(refusal?.code == .busy)
        try await router.quarantine.restore(kept.id, replacing: true)
        #expect(try await home.router().data(for: plain) == foreign)
        #expect(try await router.quarantine.list().values.isEmpty)
    }

    @Test("a key can ask for the default instead, and the value is in quarantine", arguments: domains)
    func quarantine(domain: StorageDomain) async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let refused = ["line": "unknown"]
        try await home.router().set(refused, for: Note.old([String: String].self, "note", domain))
        let router = try home.router()
        let key = try Note.key("note", domain, ifUndecodable: .quarantine)
        try await router.registerDefault(Note.V3(title: "default", tags: []), for: key)
        for _ in 0..<2 { #expect(try await router.get(key).title == "default") }
        #expect(try await !router.exists(key))
        let kept = try #require(try await router.quarantine.list().values.first)
        #expect(kept.reason.contains("no member 'title'"), "\(kept.reason)")
        try await router.set(Note.V3(title: "mine", tags: []), for: key)
        #expect(try await router.quarantine.list().values.count == 1)
        #expect(try await router.get(key).title == "mine")
        let data = try await home.router().quarantine.value(String(kept.id.prefix(12))).data
        #expect(try JSONDecoder().decode([String: String].self, from: data) == refused)
        try await router.quarantine.drop(kept.id)
        #expect(try await router.quarantine.list().values.isEmpty)
        await #expect(throws: StorageError.notFound) { try await router.quarantine.value(kept.id) }
    }

    @Test("a value that was stored since the unread one does not go to quarantine", arguments: domains)
    func storedSince(domain: StorageDomain) async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router()
        let key = try Note.key("note", domain, ifUndecodable: .quarantine)
        try await router.set(Note.V3(title: "good", tags: []), for: key)
        let quarantine = Quarantine(access: try await router.access())
        let id = try await quarantine.keep(
            AnyStorageKey(key), router.resolve(key), unread: Data("refused".utf8), removes: true, reason: "a test")
        #expect(id == nil)
        #expect(try await router.get(key).title == "good")
        #expect(try await router.quarantine.list().values.isEmpty)
    }

    @Test("many readers at once convert it once", arguments: domains)
    func readers(domain: StorageDomain) async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        try await home.router().set(Note.V1(text: "hello"), for: Note.old(Note.V1.self, "note", domain))
        let (router, count) = (try home.router(), ConversionCount())
        let key = try Note.key("note", domain, counting: count)
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<50 { group.addTask { try await router.get(key).title } }
            for try await title in group { #expect(title == "hello") }
        }
        #expect(count.value == 1)
    }

    @Test("its migration is in the history, and can be rolled back", arguments: domains)
    func rollback(domain: StorageDomain) async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let old = Note.old(Note.V1.self, "note", domain)
        try await home.router().set(Note.V1(text: "hello"), for: old)
        let router = try home.router()
        let key = try Note.key("note", domain)
        _ = try await router.get(key)
        let history = try await router.migrationHistory(for: key)
        #expect(history.map(\.id) == ["versions of \(domain)/note"])
        try await router.migrations.rollback(of: key)
        #expect(try await home.router().get(old) == Note.V1(text: "hello"))
        #expect(try await home.router().attributes(of: AnyStorageKey(old))?.versionTag == nil)
    }

    @Test("inside a migration it is read in its current version, and not stored") func inMigration() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let domain = StorageDomain.fileSystem()
        try await home.router().set(Note.V1(text: "hello"), for: Note.old(Note.V1.self, "note", domain))
        let router = try home.router()
        let note = try Note.key("note", domain)
        let target: StorageKey<String> = MigrationHome.key("title", domain)
        try await router.registerMigration(
            ScriptedMigration(
                destinationKey: target, sources: [],
                script: { transaction, _ in
                    try await transaction.set(transaction.get(note).title, for: target)
                    return MigrationResult(success: true, migratedCount: 1)
                }))
        #expect(try await router.get(target) == "hello")
        let raw = try await router.data(for: AnyStorageKey(Note.old(Note.V1.self, "note", domain)))
        #expect(raw == Data(#"{"text":"hello"}"#.utf8))
    }

    @Test("a value that cannot be stored in its current version is read anyway") func readOnly() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let domain = StorageDomain.fileSystem()
        try await home.router().set(Note.V1(text: "hello"), for: Note.old(Note.V1.self, "note", domain))
        let router = try home.router()
        let key = try Note.key("note", domain)
        // The lock of the store's migrations cannot be taken there.
        let locks = try await router.access().snapshot.settings.folders.migrations
        try? FileManager.default.removeItem(atPath: locks)
        try FileManager.default.createDirectory(
            at: URL(filePath: locks).deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data().write(to: URL(filePath: locks))
        #expect(try await router.get(key).title == "hello")
        #expect(try await router.attributes(of: AnyStorageKey(key))?.versionTag == nil)
    }

    @Test("the property wrapper reads it, and reports changes in its current version") func stored() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let domain = StorageDomain.fileSystem()
        try await home.router().set(Note.V1(text: "hello"), for: Note.old(Note.V1.self, "note", domain))
        let router = try home.router()
        let stored = StoredValue(
            try Note.key("note", domain), default: Note.V3(title: "default", tags: []), router: router)
        try await stored.load()
        #expect(stored.value.title == "hello")
        stored.value.tags = ["set"]
        try await stored.save()
        #expect(try await home.router().get(Note.key("note", domain)).tags == ["set"])
    }

    @Test("a value in quarantine is re-encrypted and copied like others, and never listed")
    func keys() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let domain = StorageDomain.encryptedFileSystem()
        let foreign = Data(#"{"secret":"what is this"}"#.utf8)
        let plain = AnyStorageKey(Note.old(Note.V3.self, "note", domain))
        try await home.router().setData(foreign, for: plain)
        let router = try home.router()
        let key = try Note.key("note", domain, ifUndecodable: .quarantine)
        try await router.registerDefault(Note.V3(title: "default", tags: []), for: key)
        _ = try await router.get(key)
        let kept = try #require(try await router.quarantine.list().values.first)
        for (name, bytes) in home.files where name.contains("localdata") {
            #expect(bytes.firstRange(of: Data("what is this".utf8)) == nil, "\(name)")
        }
        let former = try #require(try await router.keys.list().first { $0.state == "active" })
        try await router.keys.rotate()
        await #expect(throws: StorageError.busy) { try await router.keys.retire(former.id) }
        _ = try await router.keys.reseal()
        try await router.keys.retire(former.id)
        #expect(try await home.router().quarantine.value(kept.id).data == foreign)
        #expect(try await router.names(in: domain, prefix: "").isEmpty)
        let findings = await Diagnosis.run { router }
        #expect(findings.contains { $0.text.contains("in quarantine") && $0.isProblem })
    }
}
