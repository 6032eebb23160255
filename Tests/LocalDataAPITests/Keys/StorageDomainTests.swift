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
        arguments: ["fileSystem:relative", "encryptedFileSystem:x", "appGroupFileSystem:g:x"])
    func refuses(_ text: String) throws {
        let parts = try StorageAddress.parts(of: text)
        let error = try #require(throws: StorageError.self) {
            try StorageDomain(name: parts.domain, scope: parts.scope)
        }
        #expect(error.code == .invalidAddress && error.hint.contains("%2F"))
    }

    @Test(
        "an undescribed key is protected like its domain",
        arguments: [
            ("userDefaults/k", SecurityPolicy.none), ("fileSystem/k", .none), ("own/k", .none),
            ("appGroupFileSystem:g/k", .none),
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
