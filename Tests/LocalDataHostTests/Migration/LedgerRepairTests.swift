import FoundationEssentials
import LocalDataAPI
import Testing

@testable import HostMigration
@testable import HostStores
@testable import LocalDataHost

@Suite("damaged ledgers", .timeLimit(.minutes(3))) struct LedgerRepairTests {
    private static let old: StorageKey<String> = MigrationHome.key("old", .fileSystem())

    private static func new(_ domain: StorageDomain) -> StorageKey<String> { MigrationHome.key("new", domain) }

    private static func register(_ router: StorageRouter, _ domain: StorageDomain) async throws {
        try await router.registerMigration(
            SimpleLegacyMigration(destinationKey: new(domain), sourceKey: .key(old)))
    }

    private func migrated(_ home: MigrationHome, _ domain: StorageDomain) async throws -> StorageRouter {
        let router = try home.router()
        try await router.set("data", for: Self.old)
        try await Self.register(router, domain)
        #expect(try await router.migrate().failures.isEmpty)
        return router
    }

    /// The names in the ledger's namespace that begin with a word.
    private func names(_ prefix: String, in open: OpenStore) throws -> [String] {
        var names: [String] = []
        try open.store.forEachName(in: LedgerPlace.namespace, prefix: prefix) {
            names.append($0)
            return true
        }
        return names
    }

    @Test("a damaged page is reported, and is put aside only on request", arguments: 0..<4)
    func damaged(_ number: Int) async throws {
        let domain = MigrationHome.domains[number]
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try await migrated(home, domain)
        let place = try await router.ledgerPlace(of: Self.new(domain))
        #expect(try await router.migrations.checkLedgers().pages.map(\.state) == [.sound])
        // The bytes are written into a sealing store without an envelope.
        let handle = place.handle
        try await place.open.write("damaging") { (store) throws(StorageError) in
            try store.set(handle, to: Data("{\"form\":1,\"rows".utf8), attributes: nil)
        }
        let before = MigrationPlanTests.everything(home)
        let report = try await router.migrations.checkLedgers()
        #expect(report.pages.map(\.state) == [.damaged] && !report.isSound && report.failures.isEmpty)
        let fact = "the destination has a value, and none of its sources"
        #expect(report.pages[0].remarks.contains { $0.contains(fact) })
        #expect(MigrationPlanTests.everything(home) == before)
        #expect(try await router.migrations.status().migrations.map(\.state) == [.unreadable])
        #expect(try await router.migrations.history().failures.count == 1)
        #expect(
            await Diagnosis.run { try home.router() }.contains { $0.isProblem && $0.hint.contains("ledger repair") })
        #expect(try await router.migrate().failures.count == 1)

        let repaired = try await router.migrations.checkLedgers(puttingAside: true)
        #expect(repaired.pages.map(\.state) == [.putAside] && repaired.isSound)
        #expect(try names("ledger ", in: place.open).isEmpty)
        let aside = try #require(try names("damaged ", in: place.open).first)
        let kept = try LedgerPlace.page(named: aside, in: place.open, try await router.snapshot().settings)
        let bytes = try #require(try await kept.stored())
        #expect(try await kept.opened(bytes) == Data("{\"form\":1,\"rows".utf8))
        // The migrated value stays, but the history of its migration is lost.
        #expect(try await router.get(Self.new(domain)) == "data")
        #expect(try await router.migrations.status().migrations.map(\.state) == [.notRun])
        #expect(try await router.migrate().entries.map(\.outcome) == [.nothingToDo])
        #expect(try await router.migrations.checkLedgers(puttingAside: true).pages.isEmpty)
    }

    @Test("a page of a later program is not damaged, and stays")
    func later() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try await migrated(home, .fileSystem())
        let place = try await router.ledgerPlace(of: Self.new(.fileSystem()))
        try await place.set(Data("{\"form\":99}".utf8))
        let before = MigrationPlanTests.everything(home)
        let report = try await router.migrations.checkLedgers(puttingAside: true)
        #expect(report.pages.map(\.state) == [.unreadable] && !report.isSound)
        #expect(report.pages[0].remarks.contains { $0.contains("form 99") })
        #expect(MigrationPlanTests.everything(home) == before)
    }

    @Test("a page whose key is disabled is not damaged, and stays; a changed one is damaged")
    func sealed() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let domain = StorageDomain.keychain(service: "tests")
        let router = try await migrated(home, domain)
        let place = try await router.ledgerPlace(of: Self.new(domain))
        let first = try #require(try await router.keys.list(of: .store("sealed-files"), counting: false).first)
        _ = try await router.keys.rotate(of: .store("sealed-files"), to: nil)
        try await router.keys.disable(first.id, of: .store("sealed-files"))
        let locked = try await home.router().migrations.checkLedgers(puttingAside: true)
        #expect(locked.pages.map(\.state) == [.unreadable])
        #expect(locked.pages[0].remarks.contains { $0.contains("disabled") })
        try await router.keys.enable(first.id, of: .store("sealed-files"))
        #expect(try await home.router().migrations.checkLedgers().pages.map(\.state) == [.sound])
        var stored = try #require(try await place.stored())
        stored[stored.count - 1] ^= 1
        let (handle, changed) = (place.handle, stored)
        try await place.open.write("damaging") { (store) throws(StorageError) in
            try store.set(handle, to: changed, attributes: nil)
        }
        #expect(try await home.router().migrations.checkLedgers().pages.map(\.state) == [.damaged])
    }

    @Test("a sound page is compared with the stored values")
    func compared() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try await migrated(home, .fileSystem())
        try await router.remove(Self.new(.fileSystem()))
        let image = try #require(
            try names("image ", in: try await router.resolve(KeyReference(Self.old)).open).first)
        let resolved = try await router.resolve(KeyReference(Self.old))
        _ = try await LedgerPlace.image(image, of: resolved, nil).remove()
        let before = MigrationPlanTests.everything(home)
        let report = try await router.migrations.checkLedgers(puttingAside: true)
        #expect(report.isSound && report.pages.map(\.rows) == [1])
        #expect(report.pages[0].remarks.count == 2, "\(report.pages[0].remarks)")
        #expect(MigrationPlanTests.everything(home) == before)
    }
}
