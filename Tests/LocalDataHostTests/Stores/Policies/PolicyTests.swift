import FoundationEssentials
import LocalDataAPI
import TestSupport
import Testing

@testable import HostGround
@testable import HostSealing
@testable import HostStores
@testable import LocalDataHost

/// Policies and domains for the tables below.
enum PolicyCases {
    static let secret = "the quick brown secret"
    static let source = KeyMaterialSource(id: "vault")
    static let salt = Data("a salt of its own".utf8)

    static let encrypting: [SecurityPolicy] = [
        .recommended, .encrypted(.aes256()), .encrypted(.aes256(keyDerivation: .hkdf(salt: salt))),
        .encrypted(.chacha20Poly1305(keyDerivation: .hkdf(salt: salt, info: Data("purpose".utf8)))),
        .encrypted(.chacha20Poly1305(keyDerivation: .hkdf(info: Data("purpose".utf8)))),
        .encrypted(.aes256(keyDerivation: .pbkdf2(iterations: 10))),
        .encrypted(.aes256(keyDerivation: .pbkdf2(iterations: 10, salt: salt))),
        .encrypted(.chacha20Poly1305(keyDerivation: .pbkdf2(salt: salt))),
        .encrypted(.external(source: source)),
        .encrypted(.external(source: source, keyDerivation: .pbkdf2(iterations: 10))),
    ]

    static let folder = "/tmp/localdata-policies-\(UInt64.random(in: 0 ... .max))"

    /// Domains whose stores keep values unchanged. A folder that a key would choose is replaced by one of the test's.
    static let plainDomains: [StorageDomain] = [
        .userDefaults(), .userDefaults(suite: "a suite"), .fileSystem(), .fileSystem(directory: .caches),
        .fileSystem(directory: .custom(URL(filePath: folder))), .appGroupUserDefaults(), .appGroupFileSystem(),
        .appGroupFileSystem(id: "group.other", directory: .caches), .custom(name: "own", scope: "s"),
    ]
    static let domains =
        plainDomains + [
            .keychain(service: "org.example"), .encryptedFileSystem(), .encryptedFileSystem(directory: .caches),
        ]

    static func home(_ domain: StorageDomain) throws -> (SealedHome, StorageDomain) {
        let home = try SealedHome()
        guard case .fileSystem(.custom) = domain else { return (home, domain) }
        return (home, .fileSystem(directory: .custom(URL(filePath: "\(home.folder)/chosen"))))
    }
}

@Suite("each policy in each domain") struct PolicyTests {
    private func router(_ home: SealedHome) async throws -> StorageRouter {
        let router = try home.router("encryption: { iterations: 10 }")
        await router.registerKeyMaterialProvider(TestMaterial(byte: 7), for: PolicyCases.source)
        return router
    }

    private func streamed(
        _ key: AnyStorageKey, _ router: StorageRouter, _ verification: StreamVerification
    ) async throws -> Data {
        let pieces = Pieces()
        let found = try await router.readPieces(for: key, verifying: verification) {
            pieces.add($0)
            return true
        }
        #expect(found)
        return pieces.data
    }

    /// Writes and reads in every way, through two routers.
    private func roundTrip(_ home: SealedHome, _ key: StorageKey<String>) async throws {
        let any = AnyStorageKey(key)
        let (first, second) = (try await router(home), try await router(home))
        try await first.set(PolicyCases.secret, for: key)
        let bytes = try #require(try await first.data(for: any))
        for router in [first, second] {
            #expect(try await router.get(key) == PolicyCases.secret)
            #expect(try await router.data(for: any) == bytes)
            #expect(try await streamed(any, router, .whole) == bytes)
            #expect(try await streamed(any, router, .chunks) == bytes)
            #expect(try await router.attributes(of: any)?.size == UInt64(bytes.count))
            #expect(try await router.attributes(of: any)?.owner == "tests")
        }
        let later = Data("\"\(PolicyCases.secret) 2\"".utf8)
        let given = Counter()
        try await second.writePieces(for: any) { buffer in
            guard given.value == 0 else { return 0 }
            given.add()
            buffer.copyBytes(from: later)
            return later.count
        }
        #expect(try await first.get(key) == "\(PolicyCases.secret) 2")
        try await first.remove(key)
        #expect(try await !second.exists(key))
        await #expect(throws: StorageError.notFound) { try await second.get(key) }
        try await second.setData(bytes, for: any)
        #expect(try await first.get(key) == PolicyCases.secret)
    }

    private func stored(_ key: StorageKey<String>, _ home: SealedHome) async throws -> Data {
        let pieces = Pieces()
        let found = try await router(home).readStoredPieces(for: .key(key)) {
            pieces.add($0)
            return true
        }
        #expect(found)
        return pieces.data
    }

    @Test(
        "an encrypted value is read back in every way, and none of its plaintext is on the disk",
        arguments: PolicyCases.domains.indices)
    func encrypted(_ index: Int) async throws {
        let (home, domain) = try PolicyCases.home(PolicyCases.domains[index])
        defer { home.remove() }
        for (number, policy) in PolicyCases.encrypting.enumerated() {
            let key = textKey("token \(number)", domain, security: policy)
            try await roundTrip(home, key)
            let header = try await stored(key, home).withUnsafeBytes { try EnvelopeHeader(parsing: $0) }
            // In the keychain the store's own seal surrounds the policy's.
            guard domain.name != "keychain" else { continue }
            switch policy {
            case .encrypted(.aes256(let derivation)): check(header, .aes256GCM, derivation)
            case .encrypted(.chacha20Poly1305(let derivation)): check(header, .chaCha20Poly1305, derivation)
            case .encrypted(.external(_, let derivation)): check(header, .chaCha20Poly1305, derivation)
            default: Issue.record("\(policy) encrypts nothing")
            }
        }
        #expect(!home.contains(PolicyCases.secret))
    }

    private func check(
        _ header: EnvelopeHeader, _ cipher: AuthenticatedCipher, _ derivation: SecurityPolicy.KeyDerivation
    ) {
        #expect(header.cipher == cipher)
        switch derivation {
        case .hkdf(let salt, let info): #expect(header.derivation == .hkdf(salt: salt, info: info))
        case .pbkdf2(_, let salt):
            guard case .pbkdf2(10, let found) = header.derivation else {
                Issue.record("the header says \(header.derivation)")
                return
            }
            #expect(found == salt ?? found && found.count >= 16)
        }
        #expect(header.attributes.owner == "tests" && header.attributes.serializer == "json")
    }

    @Test("two values of one key with one salt share neither ciphertext nor nonce")
    func salts() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let key = textKey("token", security: .encrypted(.aes256(keyDerivation: .hkdf(salt: PolicyCases.salt))))
        var seen: Set<Data> = []
        for _ in 0..<4 {
            try await router(home).set(PolicyCases.secret, for: key)
            let stored = try await stored(key, home)
            let header = try stored.withUnsafeBytes { try EnvelopeHeader(parsing: $0) }
            #expect(seen.insert(header.salt).inserted)
            #expect(seen.insert(stored.dropFirst(header.encoded.count)).inserted)
        }
    }

    @Test("without a policy a value is stored unchanged", arguments: PolicyCases.plainDomains.indices)
    func plain(_ index: Int) async throws {
        let (home, domain) = try PolicyCases.home(PolicyCases.plainDomains[index])
        defer { home.remove() }
        let key = textKey("token", domain)
        try await roundTrip(home, key)
        #expect(try await stored(key, home) == Data("\"\(PolicyCases.secret)\"".utf8))
        // No key was created for it.
        #expect(!FileManager.default.fileExists(atPath: home.keyFile))
    }

    @Test(
        "the encrypted file system encrypts whatever the key says",
        arguments: [SecurityPolicy.none, .keychain(accessibility: .always), .keychain(accessibility: .whenUnlocked)])
    func encryptedFileSystem(_ policy: SecurityPolicy) async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let key = textKey("token", .encryptedFileSystem(), security: policy)
        try await roundTrip(home, key)
        #expect(!home.contains(PolicyCases.secret))
        let header = try await stored(key, home).withUnsafeBytes { try EnvelopeHeader(parsing: $0) }
        #expect(header.cipher == .chaCha20Poly1305 && header.derivation == .hkdf())
    }

    @Test("the keychain's store seals its values, and its key is a file of mode 0600")
    func keychain() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        try await roundTrip(
            home, textKey("token", .keychain(service: "s"), security: .keychain(accessibility: .always)))
        #expect(!home.contains(PolicyCases.secret))
        #expect(SealedHome.mode(home.keyFile) == 0o600)
        #expect(SealedHome.mode("\(home.folder)/config/keys") == 0o700)
    }
}
