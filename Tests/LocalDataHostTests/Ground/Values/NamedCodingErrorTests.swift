import FoundationEssentials
import LocalDataAPI
import Testing

@testable import LocalDataHost

@Suite("A value that is not of its key's type") struct NamedCodingErrorTests {
    private struct Size: Codable, Equatable { var width: Int }
    private struct OldSize: Codable, Equatable { var width: Double }

    @Test("is refused with the key's address, the member and the types, by every call that reads it")
    func reading() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router()
        let domain = StorageDomain.custom(name: "rows")
        let key: StorageKey<Size> = MigrationHome.key("size", domain)
        let old: StorageKey<OldSize> = MigrationHome.key("size", domain)
        try await router.set(OldSize(width: 1.5), for: old)
        let builder = DataMigrator<Size>.Builder(targetType: Size.self)
        let chained = StorageKey<Size>(
            name: "size", domain: domain, security: .none, owner: "tests", description: "",
            migrator: try builder.build())
        let calls: [(String, () async throws -> Void)] = [
            ("get", { _ = try await router.get(key) }), ("getNow", { _ = try router.getNow(key) }),
            ("revisioned", { _ = try await router.revisioned(key) }),
            ("update", { _ = try await router.update(key) { _ in } }),
            ("load", { try await StoredValue(key, default: Size(width: 0), router: router).load() }),
            ("get of versions", { _ = try await router.get(chained) }),
            ("getNow of versions", { _ = try router.getNow(chained) }),
            ("any", { _ = try AnyStorageKey(key).value(Size.self, from: Data(#"{"width":1.5}"#.utf8)) }),
        ]
        for (name, call) in calls {
            let error = await #expect(throws: (any Error).self, "\(name)") { try await call() }
            let text = error.map { "\($0)" } ?? ""
            #expect(text.contains("'rows/size'"), "\(name): \(text)")
            #expect(text.contains("expected Int at width, found a number with a fraction"), "\(name): \(text)")
        }
        #expect(try await router.get(old) == OldSize(width: 1.5))
    }

    @Test("is refused with the key's address by every call that writes it") func writing() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router()
        let key: StorageKey<String> = MigrationHome.key("theme", .custom(name: "rows"), as: .plist)
        let calls: [(String, () async throws -> Void)] = [
            ("set", { try await router.set("dark", for: key) }), ("setNow", { try router.setNow("dark", for: key) }),
            ("create", { _ = try await router.create("dark", for: key) }),
            ("update", { _ = try await router.update(key) { $0 = "dark" } }),
            ("batch", { try await router.batch { try $0.set("dark", for: key) } }),
            ("expires", { try await router.set("dark", for: key, expires: .distantFuture) }),
        ]
        for (name, call) in calls {
            let error = await #expect(throws: StorageError.self, "\(name)") { try await call() }
            #expect(error?.code == .serializationFailed, "\(name)")
            #expect(error?.message.hasPrefix("'rows/theme': a String could not be encoded as plist") == true, "\(name)")
            #expect(error?.hint.contains("serializer json") == true, "\(name)")
        }
    }

    @Test("is read as text if nothing is recorded with it any more and it can only be text") func lostAttributes()
        async throws
    {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router()
        let key: StorageKey<String> = MigrationHome.key("theme", .fileSystem())
        try await router.setData(Data("dark".utf8), for: AnyStorageKey(key).recording(.text))
        #expect(try await router.get(key) == "dark")
        let file = try #require(home.files.keys.first { $0.hasSuffix("/theme") })
        for (text, value) in [
            ("dark", "dark"), ("two words\n", "two words\n"), ("12", nil), ("\"dark", nil), ("[1", nil),
        ] {
            // A copy without the file's attributes.
            let path = "\(home.home.folder)/data/\(file)"
            try FileManager.default.removeItem(atPath: path)
            try Data(text.utf8).write(to: URL(filePath: path))
            if let value {
                #expect(try await home.router().get(key) == value)
            } else {
                let error = await #expect(throws: StorageError.self, "\(text)") { try await home.router().get(key) }
                #expect(error?.code == .deserializationFailed)
                #expect(error?.message.contains("'fileSystem:documents/theme'") == true, "\(error?.message ?? "")")
            }
        }
    }
}
