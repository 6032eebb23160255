import FoundationEssentials
import LocalDataAPI
import Testing

@testable import HostTransfer
@testable import LocalDataHost

/// An app on a phone and a watch carries its values on its own.
@Suite("A snapshot") struct SnapshotTests {
    private static let domain = StorageDomain.custom(name: "rows")

    /// The key of the release with the third version of a note.
    private static func third(_ domain: StorageDomain = domain) throws -> StorageKey<Note.V3> {
        let plain: StorageKey<Note.V3> = MigrationHome.key("note", domain)
        return StorageKey(
            name: "note", domain: domain, security: plain.security, owner: "tests", description: "a note",
            syncPolicy: .automaticSmall, migrator: try Note.migrator())
    }

    /// The key of an earlier release.
    private static func second(_ domain: StorageDomain = domain) throws -> StorageKey<Note.V2> {
        let builder = DataMigrator<Note.V2>.Builder(targetType: Note.V2.self)
        builder.register(from: Note.V1.self, to: Note.V2.self) { Note.V2(text: $0.text, tags: []) }
        let plain: StorageKey<Note.V2> = MigrationHome.key("note", domain)
        return StorageKey(
            name: "note", domain: domain, security: plain.security, owner: "tests", description: "a note",
            syncPolicy: .automaticSmall, migrator: try builder.build())
    }

    @Test("of a later release waits on the watch until that is updated", arguments: MigrationHome.domains)
    func later(domain: StorageDomain) async throws {
        let homes = try SyncHomes()
        let theme = MigrationHome.synced("theme")
        let phone = try await homes.router(0, [.key(try Self.third(domain)), .key(theme)])
        try await phone.set(Note.V3(title: "of the phone", tags: ["a"]), for: Self.third(domain))
        try await phone.set("dark", for: theme)
        let watch = try await homes.router(1, [.key(try Self.second(domain)), .key(theme)])
        let mine = Note.V2(text: "of the watch", tags: [])
        try await homes.homes[1].router().setData(
            Data(#"{"text":"of the watch","tags":[]}"#.utf8), versionTag: "V2", for: .key(Self.second(domain)))
        try await phone.set(Note.V3(title: "of the phone", tags: ["b"]), for: Self.third(domain))
        for stored in [["userDefaults/theme"], []] {
            let report = try await watch.apply(snapshot: phone.syncSnapshot())
            #expect(report.stored == stored && report.kept == ["\(domain)/note"] && report.failures.isEmpty)
        }
        #expect(try await watch.get(Self.second(domain)) == mine)
        #expect(try await watch.get(theme) == "dark")
        let updated = try await homes.router(1, [.key(try Self.third(domain)), .key(theme)])
        #expect(try await updated.get(Self.third(domain)) == Note.V3(title: "of the phone", tags: ["b"]))
        // What the watch changes then is not replaced any more.
        try await updated.set(Note.V3(title: "edited", tags: []), for: Self.third(domain))
        let next = try await homes.router(1, [.key(try Self.third(domain)), .key(theme)])
        #expect(try await next.get(Self.third(domain)).title == "edited")
    }

    @Test("of an earlier release is stored with its version, and converted") func earlier() async throws {
        let homes = try SyncHomes()
        let phone = try await homes.router(0, [.key(try Self.second())])
        try await phone.set(Note.V2(text: "of the phone", tags: ["a"]), for: Self.second())
        let watch = try await homes.router(1, [.key(try Self.third())])
        #expect(try await watch.apply(snapshot: phone.syncSnapshot()).stored == ["rows/note"])
        #expect(try await watch.attributes(of: .key(Self.third()))?.versionTag == "V2")
        #expect(try await watch.get(Self.third()) == Note.V3(title: "of the phone", tags: ["a"]))
    }

    @Test("does not replace a value that was written later, on whichever device", arguments: MigrationHome.domains)
    func times(domain: StorageDomain) async throws {
        let homes = try SyncHomes()
        let key = MigrationHome.synced("name", domain)
        let (phone, watch) = (try await homes.router(0, [.key(key)]), try await homes.router(1, [.key(key)]))
        try await phone.set("first", for: key)
        let first = await phone.syncSnapshot()
        try await phone.set("second", for: key)
        let second = await phone.syncSnapshot()
        // The watch stores the first value later than the phone has written the second one.
        #expect(try await watch.apply(snapshot: first).stored == ["\(domain)/name"])
        #expect(try await watch.apply(snapshot: second).stored == ["\(domain)/name"])
        #expect(try await watch.get(key) == "second")
        #expect(try await watch.apply(snapshot: first).unchanged == ["\(domain)/name"])
        #expect(try await watch.get(key) == "second")
        // What comes back to the phone is its own.
        #expect(try await phone.apply(snapshot: watch.syncSnapshot()).unchanged == ["\(domain)/name"])
        try await watch.set("third", for: key)
        #expect(try await watch.apply(snapshot: second).unchanged == ["\(domain)/name"])
        #expect(try await phone.apply(snapshot: watch.syncSnapshot()).stored == ["\(domain)/name"])
        #expect(try await phone.get(key) == "third")
    }

    @Test("has the names of keys, or addresses where names are the same, and refuses what it cannot assign")
    func names() async throws {
        let homes = try SyncHomes()
        let (key, number) = (MigrationHome.synced("name"), MigrationHome.synced("number", as: Int.self))
        let twins = [MigrationHome.synced("twin"), MigrationHome.synced("twin", .fileSystem())]
        let never = MigrationHome.synced("never", .userDefaults(), .never)
        let keys: [AnyStorageKey] = [.key(key), .key(number), .key(never)] + twins.map { .key($0) }
        let first = try await homes.router(0, keys)
        for key in [key, never] + twins { try await first.set("value", for: key) }
        try await first.set(1, for: number)
        let snapshot = await first.syncSnapshot()
        #expect(snapshot.keys.sorted() == ["fileSystem:documents/twin", "name", "number", "userDefaults/twin"])
        let value = try SnapshotValue(try #require(snapshot["name"]))
        #expect(value.address == "userDefaults/name" && value.data == Data("\"value\"".utf8))
        #expect(value.attributes.serializer == "json" && abs(value.written.timeIntervalSinceNow) < 600)
        // An app that fills in bytes of its own, and a device that does not know all keys.
        var mixed = snapshot
        mixed["name"] = Data("\"other\"".utf8)
        mixed["unknown"] = Data("1".utf8)
        let second = try await homes.router(1, [.key(key), .key(number)])
        let report = try await second.apply(snapshot: mixed)
        #expect(report.stored == ["userDefaults/number"])
        #expect(report.failures.keys.sorted() == ["fileSystem:documents/twin", "name", "unknown", "userDefaults/twin"])
        #expect(report.failures["name"]?.hint.contains("'userDefaults/name'") == true)
        #expect(report.failures["userDefaults/twin"]?.message.contains("takes no part in sync here") == true)
        #expect(try await second.get(number) == 1)
        #expect(try await !second.exists(key))
    }

    @Test("that was damaged on its way is refused") func damaged() throws {
        let whole = SnapshotValue(
            address: "userDefaults/name", data: Data("1".utf8), attributes: ValueAttributes(versionTag: "2"), time: 7)
        let bytes = whole.encoded
        #expect(try SnapshotValue(bytes) == whole)
        for count in 0..<bytes.count {
            #expect(throws: StorageError.deserializationFailed) { try SnapshotValue(bytes.prefix(count)) }
            var other = bytes
            other[count] ^= 1
            #expect(throws: StorageError.deserializationFailed) { try SnapshotValue(other) }
        }
    }
}
