import FoundationEssentials
import LocalDataAPI
import Testing

@Suite struct StorageDomainTests {
    static let domains: [(StorageDomain, String)] = [
        (.userDefaults(), "userDefaults"), (.userDefaults(suite: "a/b%"), "userDefaults:a%2Fb%25"),
        (.appGroupUserDefaults(), "appGroupUserDefaults"),
        (.appGroupUserDefaults(identifier: "g"), "appGroupUserDefaults:g"), (.keychain(), "keychain"),
        (.keychain(service: "com.example"), "keychain:com.example"), (.fileSystem(), "fileSystem:documents"),
        (.fileSystem(directory: .caches), "fileSystem:caches"),
        (.fileSystem(directory: .custom(URL(filePath: "/x/y z"))), "fileSystem:%2Fx%2Fy z"),
        (.encryptedFileSystem(), "encryptedFileSystem:documents"),
        (.encryptedFileSystem(directory: .custom(URL(filePath: "/50%"))), "encryptedFileSystem:%2F50%25"),
        (.appGroupFileSystem(), "appGroupFileSystem::documents"),
        (.appGroupFileSystem(id: "g", directory: .caches), "appGroupFileSystem:g:caches"),
        (.appGroupFileSystem(id: "g", directory: .custom(URL(filePath: "/x"))), "appGroupFileSystem:g:%2Fx"),
        (.fileSystem(directory: .documents(of: "notes")), "fileSystem:notes:documents"),
        (.encryptedFileSystem(directory: .caches(of: "notes")), "encryptedFileSystem:notes:caches"),
        (.fileSystem(directory: .documents(of: "documents")), "fileSystem:documents:documents"),
        (.fileSystem(directory: .documents(of: "")), "fileSystem::documents"),
        (.custom(name: "userDefaults", scope: ""), "userDefaults:"),
        (.custom(name: "fileSystem", scope: "notes:documents/a/b"), "fileSystem:notes:documents%2Fa%2Fb"),
        (.custom(name: "own"), "own"), (.custom(name: "own", scope: "s:t/u"), "own:s:t%2Fu"),
    ]

    @Test("a domain is printed as in an address, and read back unchanged", arguments: domains.indices)
    func roundTrip(_ index: Int) throws {
        let (domain, text) = Self.domains[index]
        #expect("\(domain)" == text)
        let parts = try StorageAddress.parts(of: "\(text)/name")
        #expect(try StorageDomain(name: parts.domain, scope: parts.scope) == domain)
        #expect(parts.name == "name")
    }

    @Test(
        "an invalid folder is refused",
        arguments: [
            "fileSystem:a b", "encryptedFileSystem:x:y", "appGroupFileSystem:g:x", "appGroupFileSystem:g:x:documents",
            "fileSystem:document", "fileSystem:Documents", "encryptedFileSystem:cache", "fileSystem:..",
        ])
    func refuses(_ text: String) throws {
        let parts = try StorageAddress.parts(of: text)
        let error = try #require(throws: StorageError.self) {
            try StorageDomain(name: parts.domain, scope: parts.scope)
        }
        #expect(error.code == .invalidAddress && error.hint.contains("%2F"))
    }

    @Test("an app's identifier alone is its documents, and an empty scope is the data of no app")
    func ofApps() throws {
        for (text, expected) in [
            ("fileSystem:com.example.notes", StorageDomain.fileSystem(directory: .documents(of: "com.example.notes"))),
            ("encryptedFileSystem:x", .encryptedFileSystem(directory: .documents(of: "x"))),
            ("fileSystem:", .fileSystem(directory: .documents(of: ""))),
            ("encryptedFileSystem:", .encryptedFileSystem(directory: .documents(of: ""))),
            ("userDefaults:", .custom(name: "userDefaults", scope: "")), ("keychain:", .keychain()),
        ] { #expect(try StorageDomain(address: text) == expected) }
    }

    @Test(
        "an undescribed key is protected like its domain",
        arguments: [
            ("userDefaults/k", SecurityPolicy.none), ("fileSystem/k", .none), ("own/k", .none),
            ("appGroupFileSystem:g/k", .none),
            ("encryptedFileSystem:x/k", .recommended), ("encryptedFileSystem:x:documents%2Fs/k", .recommended),
            ("encryptedFileSystem/k", .recommended), ("keychain:s/k", .keychain(accessibility: .whenUnlocked)),
        ])
    func described(_ text: String, _ policy: SecurityPolicy) throws {
        let descriptor = try StorageKeyDescriptor(address: text)
        #expect(descriptor.security == policy && descriptor.serializer == .data && descriptor.name == "k")
    }

    @Test("an address without a name describes no key", arguments: ["userDefaults", "userDefaults/", "keychain:s"])
    func nameless(_ text: String) {
        #expect(throws: StorageError.invalidAddress) { try StorageKeyDescriptor(address: text) }
    }
}
