import FoundationEssentials
import LocalDataAPI
import Testing

@Suite("A catalog's manifest")
struct CatalogManifestTests {
    private struct Catalog: StorageKeyCatalog {
        let name = "App"
        let allKeys: [AnyStorageKey]
    }

    private static let policies: [SecurityPolicy] = [
        .none, .recommended, .encrypted(.aes256(keyDerivation: .pbkdf2(iterations: 600_000))),
        .encrypted(.external(source: KeyMaterialSource(id: "token"), keyDerivation: .pbkdf2())),
        .keychain(accessibility: .afterFirstUnlock),
        .keychain(accessibility: .whenPasscodeSetThisDeviceOnly, accessControl: .biometryCurrentSet),
    ]

    private static let domains: [StorageDomain] = [
        .userDefaults(), .userDefaults(suite: "a/b%c"), .appGroupUserDefaults(identifier: "group.x"),
        .keychain(service: "com.example"), .fileSystem(directory: .caches), .encryptedFileSystem(),
        .appGroupFileSystem(id: "group.x", directory: .documents), .appGroupFileSystem(), .custom(name: "x.cloud"),
    ]

    @Test("brings back every key with its domain and policy", arguments: policies)
    func roundTrip(_ policy: SecurityPolicy) throws {
        let keys = Self.domains.enumerated().map { index, domain in
            AnyStorageKey(
                StorageKeyDescriptor(
                    name: "k/\(index) é\n", domain: domain, security: policy, serializer: .plist, valueType: "Profile",
                    owner: "Team", description: "a key", availability: .phoneOnly, syncPolicy: .manual))
        }
        let json = try CatalogManifest(Catalog(allKeys: keys), app: "").json()
        let back = try CatalogManifest(json: json, source: "test")
        #expect(back.name == "App")
        #expect(try back.json() == json)
        let found = Dictionary(uniqueKeysWithValues: back.allKeys.map { ($0.descriptor.name, $0.descriptor) })
        #expect(found.count == keys.count)
        for key in keys.map(\.descriptor) {
            let other = try #require(found[key.name])
            #expect(other.domain == key.domain && other.security == policy && other.serializer == .plist)
            #expect(other.valueType == "Profile" && other.owner == "Team" && other.description == "a key")
            #expect(other.availability == .phoneOnly && other.syncPolicy == .manual && other.catalog == "App")
        }
    }

    @Test("names the app where its keys mean their own app, by default the program that writes it")
    func ofApp() throws {
        let keys = Self.domains.map {
            AnyStorageKey(StorageKeyDescriptor(name: "k", domain: $0, owner: "Team", description: "a key"))
        }
        func domains(_ app: String?) throws -> [String] {
            let json = try CatalogManifest(Catalog(allKeys: keys), app: app).json()
            return try CatalogManifest(json: json, source: "test").allKeys.map { "\($0.descriptor.domain)" }
        }
        #expect(
            try domains("notes") == [
                "appGroupFileSystem::documents", "appGroupFileSystem:group.x:documents", "appGroupUserDefaults:group.x",
                "encryptedFileSystem:notes:documents", "fileSystem:notes:caches", "keychain:com.example",
                "userDefaults:a%2Fb%25c", "userDefaults:notes", "x.cloud",
            ])
        #expect(try domains(nil).contains("userDefaults:\(AppIdentifier.ofThisProgram)"))
        #expect(try domains("").contains("userDefaults"))
    }

    @Test(
        "that is not well formed is refused, with its file and the error",
        arguments: [
            ("", "is not a manifest"), ("[]", "is not a manifest"),
            ("{\"format\":1,\"name\":\"A\"}", "no member 'keys'"),
            ("{\"format\":2,\"name\":\"A\",\"keys\":[]}", "has format 2; this version reads format 1"),
            (entry("nothing"), "key 'nothing': 'nothing' has no name"),
            (entry("userDefaults:%zz/x"), "key 'userDefaults:%zz/x'"),
            (
                entry("userDefaults/x", security: "\"weak\""),
                "key 'userDefaults/x': 'security' is no policy; expected none"
            ),
            (
                entry("userDefaults/x", security: "{\"cipher\":\"ROT13\"}"),
                "'cipher', AES-256-GCM or ChaCha20-Poly1305, or one with 'accessibility', whenUnlocked"
            ),
            (
                entry("userDefaults/x").replacing("\"never\"", with: "\"auto\""),
                "key 'userDefaults/x': 'sync' is 'auto'; expected never, manual or automaticSmall"
            ),
            (
                entry("userDefaults/x").replacing("\"all\"", with: "\"phones\""),
                "'availability' is 'phones'; expected all, phoneOnly, watchOnly or phoneWithWatchSync"
            ),
            (
                entry("userDefaults/x").replacing("\"json\"", with: "\"xml\""),
                "'serializer' is 'xml'; expected json, plist, text, data or custom"
            ),
            (entry("userDefaults/x").replacing("\"sync\"", with: "\"synk\""), "no member 'sync' at keys.[0]"),
        ])
    func malformed(_ text: String, _ expected: String) throws {
        let error = try #require(throws: StorageError.self) {
            try CatalogManifest(json: Data(text.utf8), source: "app.json")
        }
        #expect(error == .invalidConfiguration)
        #expect(error.message.contains("app.json") && error.message.contains(expected), "\(error.message)")
    }

    private static func entry(_ address: String, security: String = "\"none\"") -> String {
        """
        {"format":1,"name":"A","keys":[{"address":"\(address)","security":\(security),"serializer":"json","type":"",
        "owner":"","description":"d","availability":"all","sync":"never"}]}
        """
    }
}
