import FoundationEssentials
import LocalDataAPI
import Testing

@testable import LocalDataHost

@Suite("policies that cannot be applied") struct PolicyRefusalTests {
    private func expectRefused(
        _ key: StorageKey<String>, _ router: StorageRouter, _ words: String...,
        location: SourceLocation = #_sourceLocation
    ) async throws {
        let any = AnyStorageKey(key)
        let calls: [@Sendable () async throws -> Void] = [
            { try await router.set(PolicyCases.secret, for: key) },
            { try await router.writePieces(for: any) { _ in 0 } }, { _ = try await router.get(key) },
            { _ = try await router.readPieces(for: any) { _ in true } }, { try await router.checkUsable(any) },
        ]
        for call in calls {
            let error = try await StorageError.of(location: location, call)
            #expect(error.code == .securityApplicationFailed, sourceLocation: location)
            #expect(!error.hint.isEmpty && !"\(error)".contains(PolicyCases.secret), sourceLocation: location)
            #expect(error.message.contains("/\(key.name)'"), sourceLocation: location)
            for word in words { #expect("\(error)".contains(word), "\(error)", sourceLocation: location) }
        }
        #expect(try await !router.exists(key), sourceLocation: location)
    }

    @Test(
        "a keychain policy applies only to the keychain and the encrypted file system",
        arguments: PolicyCases.plainDomains.indices)
    func keychainPolicy(_ index: Int) async throws {
        let (home, domain) = try PolicyCases.home(PolicyCases.plainDomains[index])
        defer { home.remove() }
        try await expectRefused(
            textKey("token", domain, security: .keychain(accessibility: .always)), try home.router(),
            "keychain (always)", "no store here can do that", "encryptedFileSystem")
    }

    @Test("the keychain keeps no plain values, however they would get there")
    func plainKeychain() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let domain = StorageDomain.keychain(service: "s")
        try await expectRefused(textKey("token", domain), try home.router(), "security none")
        let unsealed = try home.router(domains: "keychain: \"file\"")
        for policy in [SecurityPolicy.keychain(accessibility: .always), .recommended] {
            try await expectRefused(textKey("token", domain, security: policy), unsealed, "seal the store")
        }
        // Nor does it keep the master keys there.
        let error = try await StorageError.of {
            try await unsealed.set("x", for: textKey("k", security: .recommended))
        }
        #expect(error.code == .securityApplicationFailed && error.message.contains("keeps plain values"))
        #expect(home.files("data").isEmpty)
    }

    @Test(
        "an accessibility is advisory, or refused, as configured", arguments: KeychainAccessibility.allCases
    )
    func accessibility(_ accessibility: KeychainAccessibility) async throws {
        for domain in [StorageDomain.keychain(service: "s"), .encryptedFileSystem()] {
            let home = try SealedHome()
            defer { home.remove() }
            let key = textKey("token", domain, security: .keychain(accessibility: accessibility))
            let strict = try home.router("keychain: { accessibility: \"refuse\" }")
            if [.always, .alwaysThisDeviceOnly].contains(accessibility) {
                try await strict.set("x", for: key)
                #expect(try await strict.get(key) == "x")
            } else {
                try await expectRefused(key, strict, accessibility.rawValue, "keychain.accessibility advisory")
            }
            for text in ["", "keychain: { accessibility: \"advisory\" }"] {
                let router = try home.router(text)
                try await router.set("x", for: key)
                #expect(try await router.get(key) == "x")
            }
        }
    }

    @Test("an access control is refused unless the configuration permits it", arguments: KeychainAccessControl.allCases)
    func accessControl(_ control: KeychainAccessControl) async throws {
        for domain in [StorageDomain.keychain(service: "s"), .encryptedFileSystem()] {
            let home = try SealedHome()
            defer { home.remove() }
            let key = textKey(
                "token", domain, security: .keychain(accessibility: .always, accessControl: control))
            for text in ["", "keychain: { accessControl: \"refuse\" }"] {
                try await expectRefused(
                    key, try home.router(text), control.rawValue, "keychain.accessControl advisory")
            }
            let router = try home.router("keychain: { accessControl: \"advisory\" }")
            try await router.set("x", for: key)
            #expect(try await router.get(key) == "x")
            // Permitting one does not permit the other.
            let locked = textKey(
                "locked", domain, security: .keychain(accessibility: .whenUnlocked, accessControl: control))
            try await expectRefused(
                locked, try home.router("keychain: { accessControl: \"advisory\", accessibility: \"refuse\" }"),
                "unlocked")
        }
    }

    @Test("a number of iterations that no header allows is refused", arguments: [0, -1, 1_000_000_000, Int.max])
    func iterations(_ count: Int) async throws {
        let home = try SealedHome()
        defer { home.remove() }
        for policy: SecurityPolicy.EncryptionPolicy in [
            .aes256(keyDerivation: .pbkdf2(iterations: count)),
            .external(source: PolicyCases.source, keyDerivation: .pbkdf2(iterations: count)),
        ] {
            let router = try home.router()
            await router.registerKeyMaterialProvider(TestMaterial(byte: 1), for: PolicyCases.source)
            try await expectRefused(textKey("token", security: .encrypted(policy)), router, "iterations")
        }
    }

    @Test("without a crypto provider, keys with encryption are refused, and the others are served")
    func noProvider() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try home.router("encryption: { provider: \"absent\" }")
        try await router.set("x", for: textKey("plain"))
        for domain in [StorageDomain.userDefaults(), .fileSystem(), .encryptedFileSystem()] {
            try await expectRefused(textKey("token", domain, security: .recommended), router, "absent")
        }
        try await expectRefused(textKey("token", .encryptedFileSystem()), router, "absent")
        #expect(home.files("data").filter { !$0.key.hasSuffix("places.jsonl") }.count == 1)
    }

    @Test("keys of the host's own are neither read nor written nor listed as values")
    func reserved() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try home.router(
            domains: "own: \"vault\"",
            """
            encryption: { service: "mine", account: "top" },
            stores: { vault: { component: "file", options: { root: "${data}/vault" },
              sealing: { source: "keychain", service: "mine" } } }
            """)
        try await router.set("x", for: textKey("k", security: .recommended))
        try await router.set("x", for: textKey("k", .custom(name: "own")))
        try await router.set(
            "x", for: textKey("other", .keychain(service: "mine"), security: .keychain(accessibility: .always)))
        for (service, name) in [("mine", "top"), ("mine", "store vault"), ("LocalData", "master")] {
            let key = AnyStorageKey(
                textKey(name, .keychain(service: service), security: .keychain(accessibility: .always)))
            for call in [
                { try await router.setData(Data(), for: key) }, { _ = try await router.data(for: key) },
                { try await router.remove(key) }, { _ = try await router.readStoredPieces(for: key) { _ in true } },
            ] as [@Sendable () async throws -> Void] {
                let error = try await StorageError.of(call)
                #expect(error.code == .securityApplicationFailed && error.message.contains("keys of the host"))
            }
        }
        #expect(try await router.names(in: .keychain(service: "mine")) == ["other"])
        #expect(try await router.names(in: .keychain(service: "mine"), limit: 1) == ["other"])
    }

    @Test("the domain of the key rings cannot be mapped to a store", arguments: ["localdata.keys", "LocalData.KEYS"])
    func reservedDomain(_ domain: String) throws {
        let home = try SealedHome()
        defer { home.remove() }
        let error = try #require(throws: StorageError.self) {
            try home.fixture.configuration("domains: { \"\(domain)\": \"file\" }")
        }
        #expect(error.code == .invalidConfiguration && error.message.contains("the host keeps its own keys"))
    }
}
