import FoundationEssentials
import Glibc
import LocalDataAPI
import Synchronization
import Testing

@testable import HostGround
@testable import HostPlugins
@testable import LocalDataHost

@Suite("plugins that break the rules of the boundary", .waitsForPrograms) struct HostilePluginTests {
    /// The fixture, compiled once for all tests of the process; removed when the process ends.
    static let shared = Result { () throws in
        let fixture = try FixtureBuilder()
        removedAtExit.withLock { $0 = fixture.folder }
        atexit { removedAtExit.withLock { try? FileManager.default.removeItem(atPath: $0) } }
        return try fixture.build(variant: [], as: "libHostile.so", source: "hostile.c")
    }

    private func image() throws -> PluginImage { try PluginImage.load(Self.shared.get()) }

    @Test("at least 150 faults have expected outcomes")
    func enough() {
        let cases = HostileCase.store + HostileCase.crypto + HostileCase.sync + HostileCase.pack
        #expect(Set(cases.map(\.testDescription)).count + HostileCase.descriptors.count >= 150)
    }

    /// Runs a case and compares its outcome.
    private func check(
        _ test: HostileCase, _ log: LogRecorder, _ body: () async throws -> Void
    ) async throws {
        do {
            try await body()
            guard test.code == nil else {
                Issue.record("\(test.testDescription): expected an error, and the call succeeded")
                return
            }
        } catch {
            let (code, message) = Self.parts(of: error)
            #expect(code == test.code, "\(test.testDescription): \(message)")
            #expect(message.contains(test.text), "\(test.testDescription): \(message)")
            if code == .corrupt || code == .unknown, test.component != .pack {
                #expect(message.contains("libHostile.so") && message.contains("hostile-"), "\(message)")
            }
            return
        }
        if !test.text.isEmpty {
            #expect(log.lines.contains { $0.contains(test.text) }, "\(test.testDescription): \(log.lines)")
        }
    }

    private static func parts(of error: any Error) -> (StorageError.Code, String) {
        switch error {
        case let error as StorageError: (error.code, error.message + " " + error.hint)
        case let error as MigrationError: (error.underlying?.code ?? .unknown, error.message)
        default: (.unknown, "\(error)")
        }
    }

    private func options(_ test: HostileCase) throws -> ResolvedOptions {
        try #require(ResolvedOptions(["mode": .string(test.mode)]))
    }

    // MARK: Stores

    @Test("a store")
    func stores() async throws {
        let image = try image()
        for test in HostileCase.store {
            let log = LogRecorder()
            let options = try options(test)
            try await check(test, log) {
                let store = try image.openStore("hostile-store", options: options, host: HostTable.shared(for: log))
                try Self.use(store, test.operation)
                store.close()
            }
        }
        try expectRest(of: image)
    }

    /// Checks that the process and the library still work after all faults.
    private func expectRest(of image: PluginImage) throws {
        let store = try image.openStore(
            "hostile-store", options: ResolvedOptions(), host: HostTable.shared(for: SilentLog()))
        let value = try store.with("after") { try store.get($0) }
        #expect(value == Data("value".utf8))
    }

    private static func use(_ store: LoadedStore, _ operation: String) throws {
        let place = StorageNamespace(domain: "userDefaults")
        let handle = try store.resolve(StorageAddress(place, name: "name"))
        defer { store.release(handle) }
        func inTransaction(_ body: (StoreTransaction) throws -> Void) throws { try body(try store.begin()) }
        func write() throws {
            var isFirst = true
            try store.write(handle, attributes: nil) { buffer in
                defer { isFirst = false }
                return isFirst ? min(buffer.count, 200_000) : 0
            }
        }
        switch operation {
        case "get": #expect(try store.get(handle) == Data("value".utf8))
        case "get twice":
            for _ in 0..<2 { #expect(try store.get(handle) == Data("value".utf8)) }
        case "get and exists":
            _ = try store.get(handle)
            #expect(try store.exists(handle))
        case "get and close": _ = try store.get(handle)
        case "exists": _ = try store.exists(handle)
        case "set": try store.set(handle, to: Data([1]), attributes: nil)
        case "remove": _ = try store.remove(handle)
        case "names": try store.forEachName(in: place, prefix: "p", limit: 3) { _ in true }
        case "names after p5": try store.forEachName(in: place, prefix: "p", after: "p5") { _ in true }
        case "first name":
            var names: [String] = []
            try store.forEachName(in: place, prefix: "p") {
                names.append($0)
                return false
            }
            #expect(names == ["p1"])
        case "places": try store.forEachPlace { _ in true }
        case "attributes": _ = try store.attributes(of: handle)
        case "cond-get": _ = try store.revisioned(handle)
        case "cond-set": _ = try store.set(handle, to: Data([1]), attributes: nil, if: .revision(9))
        case "cond-remove": _ = try store.remove(handle, ifRevision: 9)
        case "sweep": _ = try store.sweep(nil, limit: 10)
        case "expired": try store.forEachExpired(in: place) { _ in true }
        case "lock": if let lock = try store.lock("name", in: place, waiting: .zero) { store.unlock(lock) }
        case "held":
            guard let lock = try store.lock("name", in: place, waiting: .zero) else { break }
            _ = try store.isHeld(lock)
        case "read": _ = try store.read(handle) { _ in true }
        case "write": try write()
        case "write twice":
            try write()
            try write()
        case "batch": try store.apply([StorageChange(key: handle, value: Data([1]))])
        case "check": try store.check { _ in true }
        case "watch": store.unwatch(try store.watch(place) { _ in })
        case "tx-get": try inTransaction { _ = try store.get(handle, in: $0) }
        case "tx-set": try inTransaction { try store.set(handle, to: Data(), in: $0) }
        case "tx-remove": try inTransaction { _ = try store.remove(handle, in: $0) }
        case "commit": try inTransaction { try store.commit($0) }
        case "bulk": try store.forEachValue(in: place, prefix: "p", largest: 8) { _ in true }
        case "bulk-apply":
            let changes = BulkChangeList(capacity: 1)
            let name = changes.keep(Array("name".utf8))
            changes.add(changes.add(place), name, name)
            _ = try store.apply(changes)
        default: Issue.record("no operation '\(operation)'")
        }
    }

    // MARK: Crypto providers

    @Test("a crypto provider")
    func providers() async throws {
        let image = try image()
        for test in HostileCase.crypto {
            let log = LogRecorder()
            let options = try options(test)
            try await check(test, log) {
                try Self.use(
                    image.openCrypto("hostile-crypto", options: options, host: HostTable.shared(for: log)),
                    test.operation)
            }
        }
    }

    private static func use(_ crypto: LoadedCrypto, _ operation: String) throws {
        let input = UnsafeMutableRawBufferPointer.allocate(byteCount: 64, alignment: 16)
        defer { input.deallocate() }
        input.initializeMemory(as: UInt8.self, repeating: 1)
        func part(_ count: Int) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: input[..<count]) }
        let output = UnsafeMutableRawBufferPointer.allocate(byteCount: 64, alignment: 16)
        defer { output.deallocate() }
        let tag = UnsafeMutableRawBufferPointer(rebasing: output[48...])
        let text = UnsafeMutableRawBufferPointer(rebasing: output[..<16])
        let cipher = AuthenticatedCipher.aes256GCM
        switch operation {
        case "seal":
            try crypto.seal(
                part(16), with: cipher, key: part(32), nonce: part(12), authenticating: part(0), ciphertext: text,
                tag: tag)
        case "open":
            try crypto.open(
                part(16), tag: part(16), with: cipher, key: part(32), nonce: part(12), authenticating: part(0),
                plaintext: text)
        case "derive": try crypto.derive(.hkdfSHA256, from: part(32), salt: part(16), into: output)
        case "random": try crypto.random(into: output)
        case "public_key":
            try crypto.publicKey(ofSigningKey: part(32), for: .ed25519, into: .init(rebasing: output[..<32]))
        case "sign": try crypto.sign(part(16), with: part(32), by: .ed25519, into: output)
        case "verify": try crypto.verify(part(64), of: part(16), with: part(32), by: .ed25519)
        default: Issue.record("the crypto provider has no operation '\(operation)'")
        }
    }

    // MARK: Transports

    @Test("a sync transport")
    func transports() async throws {
        let image = try image()
        for test in HostileCase.sync {
            let log = LogRecorder()
            let options = try options(test)
            try await check(test, log) {
                let transport = try image.openTransport(
                    "hostile-sync", options: options, secrets: nil, host: HostTable.shared(for: log))
                try Self.use(transport, test.operation)
                transport.close()
            }
        }
    }

    private static func use(_ transport: LoadedTransport, _ operation: String) throws {
        let record = SyncRecord(writer: "writer", name: "name", content: Data("content".utf8))
        var found: [SyncRecord] = []
        func fetch(atMost count: Int = .max) throws -> Data {
            try transport.fetch(since: nil, atMost: count) { record in
                found.append(record)
                return true
            }
        }
        switch operation {
        case "publish": try transport.publish([record])
        case "remove": try transport.remove(["name"], of: "writer")
        case "fetch":
            #expect(try fetch() == Data("1".utf8))
            #expect(found.first == record)
        case "fetch one": _ = try fetch(atMost: 1)
        case "fetch twice":
            _ = try fetch()
            _ = try fetch()
            #expect(found == [record, record])
        case "subscribe": transport.unsubscribe(try transport.subscribe { _ in })
        default: Issue.record("no operation '\(operation)'")
        }
    }

    // MARK: Packs

    @Test("a migration pack")
    func packs() async throws {
        let image = try image()
        for test in HostileCase.pack {
            let log = LogRecorder()
            let options = try options(test)
            try await check(test, log) {
                let pack = try image.openPack(
                    "hostile-pack", name: "hostile", options: options, timeout: .seconds(20),
                    host: HostTable.shared(for: log))
                switch test.operation {
                case "bulk list": _ = try pack.bulkMigrations()
                case "convert":
                    _ = try #require(try pack.bulkMigrations().first).convert(Data("new".utf8), named: "name")
                case "should":
                    _ = try await #require(pack.migrations().first).shouldMigrate(
                        using: EmptyStorage(), context: MigrationContext())
                default:
                    let result = try await #require(pack.migrations().first).migrate(
                        using: EmptyStorage(), context: MigrationContext())
                    if let error = result.errors.first { throw error }
                }
            }
        }
    }

    // MARK: Descriptors

    @Test("a descriptor")
    func descriptors() throws {
        let folder = try FixtureBuilder()
        defer { folder.remove() }
        let library = try Data(contentsOf: URL(filePath: Self.shared.get()))
        for (mode, text) in HostileCase.descriptors {
            let path = try folder.write(library, to: "libmode-\(mode).so")
            guard let text else {
                #expect(throws: Never.self) { try PluginImage.load(path) }
                continue
            }
            let error = try #require(throws: StorageError.self, "\(mode)") { try PluginImage.load(path) }
            #expect(error.code == .pluginRefused && error.message.contains(text), "\(mode): \(error)")
        }
    }
}

private let removedAtExit = Mutex("")

/// An empty storage.
private struct EmptyStorage: StorageProviding {
    func get<Value>(_ key: StorageKey<Value>) async throws -> Value { throw StorageError(.notFound) }
    func set<Value>(_ value: Value, for key: StorageKey<Value>) async throws {}
    func remove<Value>(_ key: StorageKey<Value>) async throws {}
    func exists<Value>(_ key: StorageKey<Value>) async throws -> Bool { false }
    func data(for key: AnyStorageKey) async throws -> Data? { nil }
    func setData(_ data: Data, for key: AnyStorageKey) async throws {}
    func remove(_ key: AnyStorageKey) async throws {}
    func exists(_ key: AnyStorageKey) async throws -> Bool { false }
    func names(in domain: StorageDomain, prefix: String) async throws -> [String] { [] }
    func attributes(of key: AnyStorageKey) async throws -> ValueAttributes? { nil }
    func setData(_ data: Data, versionTag: String?, for key: AnyStorageKey) async throws {}
}
