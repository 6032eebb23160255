import FoundationEssentials
import LocalDataAPI
import Testing

@testable import HostGround
@testable import HostStores
@testable import LocalDataHost

@Suite("the location of a domain") struct DomainPlacesTests {
    private func settings(
        defaults: Bool, subDirectory: String? = nil, app: String = ""
    ) throws -> HostSettings {
        let group = defaults ? ", default: \"group.app\"" : ""
        let keychain = defaults ? "keychain: { service: \"org.example\" }," : ""
        let files = subDirectory.map { "files: { subDirectory: \"\($0)\" }," } ?? ""
        return try HostConfiguration(
            text:
                "{ app: { id: \"\(app)\" }, directories: { data: \"/d\", cache: \"/c\" }, appGroups: { path: \"/g\"\(group) }, \(keychain) \(files) }"
        ).settings()
    }

    private static let folder = FileDirectory.custom(URL(filePath: "/x/y z"))

    static let places: [(StorageDomain, String?, String, String?)] = [
        (.userDefaults(), nil, "", nil), (.userDefaults(suite: "a suite"), nil, "a suite", nil),
        (.appGroupUserDefaults(), nil, "group.app", "/g/group.app/userDefaults"),
        (.appGroupUserDefaults(identifier: "other"), nil, "other", "/g/other/userDefaults"),
        (.keychain(), nil, "org.example", nil), (.keychain(service: "mine"), nil, "mine", nil),
        (.fileSystem(), nil, "documents", nil), (.fileSystem(), "sub", "documents/sub", nil),
        (.fileSystem(directory: .caches), nil, "caches", "/c/fileSystem"),
        (.fileSystem(directory: .caches), "sub", "caches/sub", "/c/fileSystem@sub"),
        (.fileSystem(directory: folder), "sub", "/x/y z", "/x/y z"),
        (.encryptedFileSystem(), nil, "documents", nil),
        (.encryptedFileSystem(directory: .caches), nil, "caches", "/c/encryptedFileSystem"),
        (.encryptedFileSystem(directory: folder), nil, "/x/y z", "/x/y z/encryptedFileSystem"),
        (.appGroupFileSystem(), nil, "group.app:documents", "/g/group.app/documents"),
        (.appGroupFileSystem(id: "other", directory: .caches), "sub", "other:caches/sub", "/g/other/caches@sub"),
        (.appGroupFileSystem(id: "other", directory: folder), nil, "/x/y z", "/x/y z/appGroupFileSystem"),
        (.custom(name: "own"), nil, "", nil), (.custom(name: "own", scope: "s/t"), nil, "s/t", nil),
    ]

    @Test("every domain has its location, with defaults filled in", arguments: places.indices)
    func place(_ index: Int) throws {
        let (domain, subDirectory, scope, directory) = Self.places[index]
        let place = try settings(defaults: true, subDirectory: subDirectory).place(of: domain)
        #expect(place.domain == domain.name)
        #expect(place.scope == scope)
        #expect(place.directory == directory)
    }

    static let ofApp: [(StorageDomain, String?, String, String?)] = [
        (.userDefaults(), nil, "notes", nil), (.userDefaults(suite: "other"), nil, "other", nil),
        (.keychain(service: "mine"), nil, "mine", nil), (.keychain(), nil, "notes", nil),
        (.fileSystem(), nil, "notes:documents", nil), (.fileSystem(), "a/b", "notes:documents/a/b", nil),
        (.fileSystem(directory: .caches), "a/b", "notes:caches/a/b", "/c/apps/notes/fileSystem@a%2Fb"),
        (.encryptedFileSystem(directory: .caches), nil, "notes:caches", "/c/apps/notes/encryptedFileSystem"),
        (.fileSystem(directory: .documents(of: "other")), nil, "other:documents", nil),
        (.fileSystem(directory: .caches(of: "other")), nil, "other:caches", "/c/apps/other/fileSystem"),
        (.fileSystem(directory: .documents(of: "")), nil, "documents", nil),
        (.fileSystem(directory: .caches(of: "")), nil, "caches", "/c/fileSystem"),
        (.fileSystem(directory: folder), "sub", "/x/y z", "/x/y z"),
        (.custom(name: "userDefaults", scope: ""), nil, "", nil), (.custom(name: "own"), nil, "", nil),
        (.custom(name: "fileSystem", scope: "b:caches/s"), nil, "b:caches/s", "/c/apps/b/fileSystem@s"),
    ]

    @Test("what a key does not name is the app's, on the disk as well", arguments: ofApp.indices)
    func placeOfApp(_ index: Int) throws {
        let (domain, subDirectory, scope, directory) = Self.ofApp[index]
        let settings = try settings(defaults: false, subDirectory: subDirectory, app: "notes")
        let place = try settings.place(of: domain)
        #expect(place == StorageNamespace(domain: domain.name, scope: scope) && place.directory == directory)
        // A listing finds the same domain again, or another way to say it.
        let found = settings.domain(of: place)
        #expect(try settings.place(of: found) == place || directory?.hasPrefix("/c") == false, "\(found)")
        let text = try StorageDomain(address: "\(found)")
        #expect(try settings.place(of: text) == place, "\(text)")
    }

    @Test("the folder of an app is no folder of a group, and its identifier must be one")
    func refusedApps() throws {
        let settings = try settings(defaults: true, app: "notes")
        for domain: StorageDomain in [
            .appGroupFileSystem(directory: .documents(of: "notes")), .fileSystem(directory: .documents(of: "..")),
            .fileSystem(directory: .caches(of: "a/b")), .encryptedFileSystem(directory: .caches(of: ".")),
        ] {
            let error = #expect(throws: StorageError.self) { try settings.place(of: domain) }
            #expect(error?.code == .invalidAddress && error?.hint.isEmpty == false)
        }
        #expect(try settings.place(of: .custom(name: "fileSystem", scope: "..:caches/s")).directory == nil)
    }

    @Test(
        "a folder is the same location however its path is spelled",
        arguments: ["/x/y", "/x/y/", "/x//y", "/x/./y/.", "/x/z/../y", "/../x/y"])
    func spelling(_ path: String) throws {
        let place = try settings(defaults: true).place(of: try StorageDomain(name: "fileSystem", scope: path))
        #expect(place.scope == "/x/y" && place.directory == "/x/y")
    }

    private static let webAddress = URL(string: "https://example.org") ?? URL(filePath: "/")

    static let refused: [(StorageDomain, StorageError.Code)] = [
        (.userDefaults(suite: ""), .invalidUserDefaultsSuite),
        (.userDefaults(suite: "a\0b"), .invalidUserDefaultsSuite),
        (.userDefaults(suite: String(repeating: "x", count: 1025)), .invalidAddress),
        (.appGroupUserDefaults(), .invalidAppGroupIdentifier), (.appGroupFileSystem(), .invalidAppGroupIdentifier),
        (.appGroupUserDefaults(identifier: ""), .invalidAppGroupIdentifier),
        (.appGroupUserDefaults(identifier: ".."), .invalidAppGroupIdentifier),
        (.appGroupUserDefaults(identifier: ".hidden"), .invalidAppGroupIdentifier),
        (.appGroupUserDefaults(identifier: "a/../b"), .invalidAppGroupIdentifier),
        (.appGroupUserDefaults(identifier: "a\0"), .invalidAppGroupIdentifier),
        (.appGroupUserDefaults(identifier: "grüppe"), .invalidAppGroupIdentifier),
        (.appGroupUserDefaults(identifier: String(repeating: "x", count: 201)), .invalidAppGroupIdentifier),
        (.keychain(), .keychainError), (.keychain(service: ""), .keychainError),
        (.fileSystem(directory: .custom(webAddress)), .invalidAddress),
        (.custom(name: ""), .invalidAddress), (.custom(name: "a b"), .invalidAddress),
        (.custom(name: "../x"), .invalidAddress), (.custom(name: String(repeating: "x", count: 65)), .invalidAddress),
        (.custom(name: "own", scope: "a\0b"), .invalidAddress),
    ]

    @Test("an identifier that is missing or not usable is refused by its kind, with advice", arguments: refused.indices)
    func refuses(_ index: Int) throws {
        let (domain, code) = Self.refused[index]
        let settings = try settings(defaults: false)
        let error = try #require(throws: StorageError.self) { try settings.place(of: domain) }
        #expect(error.code == code)
        #expect(!error.hint.isEmpty)
    }

    @Test("the router refuses such a key before any store is opened")
    func throughTheRouter() async throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let router = try StorageRouter.inMemory(fixture)
        await #expect(throws: StorageError.invalidAppGroupIdentifier) {
            try await router.set("x", for: textKey("k", .appGroupFileSystem()))
        }
        await #expect(throws: StorageError.keychainError) { try await router.exists(textKey("k", .keychain())) }
        await #expect(throws: StorageError.invalidUserDefaultsSuite) {
            try await router.remove(textKey("k", .userDefaults(suite: "")))
        }
        for name in ["", "a\0b", String(repeating: "é", count: 513)] {
            await #expect(throws: StorageError.invalidAddress) { try await router.get(textKey(name)) }
        }
    }
}
