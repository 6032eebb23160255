import FoundationEssentials
import LocalDataAPI
import TestSupport
import Testing

@testable import HostGround
@testable import HostSealing
@testable import HostStores
@testable import LocalDataHost

@Suite("resealing", .timeLimit(.minutes(3))) struct ResealTests {
    private static let salt = PolicyCases.salt

    /// Keys of every kind that the master ring seals.
    static let keys: [(AnyStorageKey, Int)] = [
        (.key(textKey("small", security: .recommended)), 10), (.key(textKey("empty", security: .recommended)), 0),
        (.key(textKey("aes", .userDefaults(suite: "s"), security: .encrypted(.aes256()))), 65_536),
        (
            .key(
                textKey(
                    "salted", .fileSystem(),
                    security: .encrypted(
                        .chacha20Poly1305(keyDerivation: .hkdf(salt: salt, info: Data("purpose".utf8)))))), 65_537
        ),
        (
            .key(
                textKey("slow", .fileSystem(), security: .encrypted(.aes256(keyDerivation: .pbkdf2(iterations: 12))))),
            100_000
        ),
        (.key(textKey("large", .encryptedFileSystem())), 5_000_000),
        (.key(textKey("cached", .encryptedFileSystem(directory: .caches))), 1 << 20),
        (.key(textKey("group", .appGroupFileSystem(id: "g"), security: .recommended)), (1 << 20) + 1),
        // The store seals it, too.
        (.key(textKey("twice", .keychain(service: "s"), security: .encrypted(.aes256()))), 200_000),
    ]

    private func headers(_ home: SealedHome) throws -> [String: EnvelopeHeader] {
        var headers: [String: EnvelopeHeader] = [:]
        for (path, data) in home.files("data") {
            headers[path] = data.withUnsafeBytes { try? EnvelopeHeader(parsing: $0) }
        }
        return headers
    }

    @Test("values of every kind keep their bytes, their attributes and their kind of seal")
    func everyKind() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try home.router("app: { version: \"7.1\" }")
        for (key, count) in Self.keys { try await router.setData(SealedStreamTests.value(count), for: key) }
        var attributes: [ValueAttributes] = []
        for (key, _) in Self.keys { attributes.append(try #require(try await router.attributes(of: key))) }
        let old = try await router.keys.list()[0].id
        let before = try headers(home)
        let active = try await router.keys.rotate().id

        let told = MutexBox<[Int]>([])
        let other = try home.router("app: { version: \"8\" }")
        let report = try await other.keys.reseal { done, total in
            told.withLock { $0.append(done) }
            #expect(total == Self.keys.count)
        }
        #expect(report.key == active && report.total == Self.keys.count && report.resealed == report.total)
        #expect(report.others == [old: Self.keys.count] && report.failures.isEmpty)
        #expect(told.withLock { $0 } == Array(1...Self.keys.count))

        for reader in [router, other] {
            for ((key, count), kept) in zip(Self.keys, attributes) {
                #expect(try await reader.data(for: key) == SealedStreamTests.value(count))
                var found = try #require(try await reader.attributes(of: key))
                #expect(found.appVersion == "7.1" && found.size == UInt64(count))
                found.modified = kept.modified
                #expect(found == kept)
            }
        }
        for (path, header) in try headers(home) {
            let previous = try #require(before[path])
            guard !path.hasPrefix("keychain/") else { continue }
            #expect("\(header.keyID)" == active && "\(previous.keyID)" == old && header.salt != previous.salt)
            #expect(header.cipher == previous.cipher && header.attributes == previous.attributes)
            #expect(header.derivation.function == previous.derivation.function)
            #expect(header.derivation.iterations == previous.derivation.iterations)
            if case .hkdf = header.derivation { #expect(header.derivation == previous.derivation) }
        }
        // Attributes that the store keeps with a value exist as well.
        #expect(try await other.keys.reseal().resealed == 0)
        try await other.keys.retire(old)
        for (key, count) in Self.keys { #expect(try await router.data(for: key) == SealedStreamTests.value(count)) }
    }

    @Test("a plan changes no file")
    func plan() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try home.router()
        for (key, count) in Self.keys { try await router.setData(SealedStreamTests.value(min(count, 1000)), for: key) }
        try await router.keys.rotate()
        try await router.keys.rotate(of: .store("sealed-files"))
        let before = home.files()
        for name in [KeyRingName.master, .store("sealed-files")] {
            let plan = try await router.keys.reseal(name, planOnly: true)
            #expect(plan.resealed == plan.total && plan.total > 0 && plan.failures.isEmpty)
            #expect(plan.others.values.reduce(0, +) == plan.total)
        }
        #expect(home.files() == before)
    }

    @Test("values of an earlier ring are included; those under external key material and plain ones are not")
    func earlierRings() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try home.router()
        await router.registerKeyMaterialProvider(TestMaterial(byte: 1), for: PolicyCases.source)
        let outside = textKey("outside", security: .encrypted(.external(source: PolicyCases.source)))
        let (plain, other) = (textKey("plain"), textKey("other", security: .recommended))
        for key in [outside, plain] { try await router.set("x", for: key) }
        await router.updateEncryptionConfiguration(EncryptionConfiguration(masterKeyService: "other"))
        try await router.set("x", for: other)
        await router.updateEncryptionConfiguration(EncryptionConfiguration())
        let own = textKey("own", security: .recommended)
        try await router.set("x", for: own)
        try await router.keys.rotate()
        let before = home.files("data/files")
        let report = try await router.keys.reseal()
        #expect(report.total == 2 && report.resealed == 2 && report.failures.isEmpty)
        #expect(report.earlierRings == ["other/master": 1] && report.others.count == 2)
        let after = home.files("data/files")
        #expect(after.keys == before.keys)
        for (path, data) in after {
            #expect((data == before[path]) == !(path.hasSuffix("/own") || path.hasSuffix("/other")))
        }
        for key in [outside, plain, other, own] { #expect(try await router.get(key) == "x") }
        let former = try await router.keys.formerRings()
        #expect(former.map(\.service) == ["other"] && former.map(\.account) == ["master"])
        // A ring that no longer seals any value is not needed.
        try await router.keys.disownRing(service: "other", account: "master")
        for key in [outside, plain, other, own] { #expect(try await home.router().exists(key)) }
        #expect(try await home.router().get(other) == "x")
    }

    @Test("a value that cannot be opened is reported with the reason, stays unchanged, and does not stop the others")
    func unopenable() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try home.router()
        let names = ["a", "b", "c", "d", "e"]
        for name in names {
            try await router.setData(
                SealedStreamTests.value(150_000), for: .key(textKey(name, security: .recommended)))
        }
        let twice = AnyStorageKey(textKey("f", .keychain(service: "s"), security: .recommended))
        try await router.setData(SealedStreamTests.value(10), for: twice)
        // Damage in the last chunk, a middle chunk and the outer envelope; a value of another address; and a truncated
        // one.
        for (name, change) in [("a", -1), ("b", -70_000), ("f", -1)] {
            let path = try home.valueFile(name)
            var data = try Data(contentsOf: URL(filePath: path))
            data[data.count + change] ^= 4
            try data.write(to: URL(filePath: path))
        }
        let stored = try Data(contentsOf: URL(filePath: home.valueFile("e")))
        try stored.write(to: URL(filePath: home.valueFile("c")))
        let cut = try Data(contentsOf: URL(filePath: home.valueFile("d"))).prefix(100_000)
        try Data(cut).write(to: URL(filePath: home.valueFile("d")))
        try await router.keys.rotate()
        let before = home.files("data")
        let report = try await router.keys.reseal()
        #expect(report.resealed == 1 && report.total == 5)
        #expect(
            report.failures.keys.sorted()
                == ["keychain:s/f"] + ["a", "b", "c", "d"].map { "userDefaults/\($0)" })
        for reason in report.failures.values {
            #expect(reason.contains(/(it stays as it is|they stay as they are)/), "\(reason)")
        }
        for (path, data) in home.files("data") { #expect((data == before[path]) == !path.hasSuffix("/e")) }
        let good = AnyStorageKey(textKey("e", security: .recommended))
        #expect(try await router.data(for: good) == SealedStreamTests.value(150_000))
    }

    @Test("resealing a value computes no more than its key's policy allows for reading")
    func costly() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let key = textKey(
            "costly", security: .encrypted(.aes256(keyDerivation: .pbkdf2(iterations: 2_500_000))))
        try await home.router().set("x", for: key)
        try await home.router().keys.rotate()
        // Without a catalog the key's policy is unknown.
        let report = try await home.router().keys.reseal()
        #expect(report.total == 1 && report.resealed == 0)
        let reason = try #require(report.failures["userDefaults/costly"])
        #expect(reason.contains("its header asks for 2500000 iterations"), "\(reason)")
        let router = try home.router()
        try await router.registerCatalog(CostlyKeys(allKeys: [.key(key)]))
        #expect(try await router.keys.reseal().resealed == 1)
        #expect(try await router.get(key) == "x")
    }

    private struct CostlyKeys: StorageKeyCatalog {
        let allKeys: [AnyStorageKey]
    }

    @Test("a store's own ring: values, other rings and values in two layers are re-encrypted, and open")
    func storeRing() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try home.router()
        let name = KeyRingName.store("sealed-files")
        let keys = [
            textKey("k", .keychain(service: "s"), security: .keychain(accessibility: .always)),
            textKey("e", .keychain(service: "s"), security: .recommended), textKey("f", security: .recommended),
        ]
        for key in keys { try await router.set(key.name, for: key) }
        let old = try await router.keys.list(of: name)[0].id
        try await router.keys.rotate(of: name)
        await #expect(throws: StorageError.busy) { try await router.keys.retire(old, of: name) }
        let report = try await router.keys.reseal(name)
        // The master ring is a value of the store.
        #expect(report.total == 3 && report.resealed == 3)
        try await router.keys.retire(old, of: name)
        for reader in [router, try home.router()] {
            for key in keys { #expect(try await reader.get(key) == key.name) }
        }
        #expect(try await router.keys.list(counting: true).map(\.values) == [2])
        #expect(try await router.attributes(of: .key(keys[1]))?.owner == "tests")
    }

    @Test("while all threads of the pool wait for the ring, a large value is re-encrypted")
    func crowded() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try home.router()
        let large = AnyStorageKey(textKey("large", security: .recommended))
        try await router.setData(SealedStreamTests.value(4 << 20), for: large)
        try await router.keys.rotate()
        let ended = Counter()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<2 * IOExecutor.limit {
                group.addTask(executorPreference: IOExecutor.shared) {
                    let key = textKey("k\(number)", .custom(name: "own"), security: .recommended)
                    while ended.value == 0, !Task.isCancelled {
                        try await router.set("x", for: key)
                        // Gives the thread to the next task.
                        await Task.yield()
                    }
                }
            }
            for _ in 0..<2 {
                #expect(try await router.keys.reseal().resealed > 0)
                try await router.keys.rotate()
            }
            ended.add()
            try await group.waitForAll()
        }
        #expect(try await router.data(for: large) == SealedStreamTests.value(4 << 20))
    }
}
