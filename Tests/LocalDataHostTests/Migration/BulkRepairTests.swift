import FoundationEssentials
import LocalDataAPI
import Synchronization
import Testing

@testable import HostMigration
@testable import LocalDataHost

@Suite("damaged records of bulk migrations", .timeLimit(.minutes(3))) struct BulkRepairTests {
    /// A counter, since each name can export only one table.
    private static let names = Atomic<Int>(0)
    private static let values = 5

    private let before = StorageDomain.custom(name: "before")
    private let after = StorageDomain.custom(name: "after")
    private let store = MeddledStore()

    enum Damage: CaseIterable { case truncated, emptied, removed, flippedBit, flippedBitInForm }

    private func router(
        _ fixture: FixtureBuilder, _ policy: MigrationConflictPolicy = .keepDestination
    ) async throws -> StorageRouter {
        let router = StorageRouter(
            configuration: try fixture.configuration("domains: { before: \"meddled\", after: \"meddled\" }"))
        let name = "repaired \(Self.names.wrappingAdd(1, ordering: .relaxed).newValue)"
        try await router.registerPlugin(
            named: name, Plugin.export(name, version: "0", .storage(MeddledStore.self) { [store] _, _ in store }))
        try await router.registerMigration(BulkMigrationTests.move(before, after, policy))
        return router
    }

    /// The address of the only record of a chunk.
    private func record() throws -> StorageAddress {
        var names: [String] = []
        store.values.forEachName(in: LedgerPlace.namespace, prefix: "chunk ", after: nil, limit: nil) {
            names.append($0)
            return true
        }
        return StorageAddress(LedgerPlace.namespace, name: try #require(names.first))
    }

    private func damage(_ kind: Damage) throws {
        let address = try record()
        var bytes = Data()
        _ = store.values.get(address) { bytes = $0.withUnsafeBytes { Data($0) } }
        switch kind {
        case .truncated: bytes = bytes.prefix(bytes.count / 2)
        case .emptied: bytes = Data()
        case .removed:
            _ = store.values.remove(address)
            return
        // The bit is in the hash of a value, so the record can still be parsed.
        case .flippedBit: bytes[bytes.count - 12] ^= 1
        case .flippedBitInForm: bytes[0] ^= 1
        }
        let changed = Data(bytes)
        store.values.set(address, to: changed.bytes, attributes: nil)
    }

    @Test("a move that was interrupted is resumed after its record was put aside", arguments: Damage.allCases)
    func interrupted(_ kind: Damage) async throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let router = try await router(fixture)
        for number in 1...Self.values {
            try await router.set("\(number)", for: BulkMigrationTests.key("old.\(number)", before))
        }
        // The values are published, and the sources have not been removed.
        store.meddle(before: { number, _ in if number >= 1 { throw StorageError(.fileError, "stopped") } })
        #expect(try await router.engine().migrateAllBulk().failures.count == 1)
        store.meddle()
        // One of the sources has changed since.
        try await router.set("newer", for: BulkMigrationTests.key("old.2", before))
        try damage(kind)
        let next = try await self.router(fixture)
        #expect(
            try await next.engine().migrateAllBulk().failures.first?.error?.underlying?.hint.contains("ledger repair")
                == true)

        let report = try await next.migrations.checkLedgers()
        #expect(report.pages.map(\.state) == [.damaged] && !report.isSound, "\(report)")
        #expect(report.pages.first?.remarks.contains { $0.contains("to be done: ") } == true)
        #expect(try await next.engine().migrateAllBulk().failures.count == 1)
        let repaired = try await next.migrations.checkLedgers(puttingAside: true)
        #expect(repaired.pages.map(\.state) == [.putAside] && repaired.isSound, "\(repaired)")

        #expect(try await next.engine().migrateAllBulk().failures.isEmpty)
        #expect(try await next.migrations.checkLedgers().pages.map(\.state) == [.sound])
        #expect(try await next.names(in: before) == ["old.2"])
        #expect(try await next.get(BulkMigrationTests.key("old.2", before)) == "newer")
        for number in 1...Self.values {
            #expect(try await next.get(BulkMigrationTests.key("new.\(number)", after)) == "\(number)")
        }
    }

    @Test(
        "a dropped source is restored only unchanged, and nothing is restored unless all images are known to be sound",
        arguments: [(true, "is not kept any more"), (false, "is kept damaged")])
    func dropped(_ isRemoved: Bool, _ remark: String) async throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let router = try await router(fixture, .dropSource)
        for number in 1...Self.values {
            try await router.set("kept \(number)", for: BulkMigrationTests.key("new.\(number)", after))
            try await router.set("dropped \(number)", for: BulkMigrationTests.key("old.\(number)", before))
        }
        #expect(try await router.runMigration("move").outcome == .sourceDropped)
        #expect(try await router.migrations.checkLedgers().pages.flatMap(\.remarks).isEmpty)
        var names: [String] = []
        store.values.forEachName(in: LedgerPlace.namespace, prefix: "image ", after: nil, limit: nil) {
            names.append($0)
            return true
        }
        let image = StorageAddress(LedgerPlace.namespace, name: try #require(names.last))
        if isRemoved {
            _ = store.values.remove(image)
        } else {
            store.values.set(image, to: Data("\"other\"".utf8).bytes, attributes: nil)
        }
        let remarks = try await router.migrations.checkLedgers().pages.flatMap(\.remarks)
        #expect(remarks.count == 1 && remarks.first?.contains(remark) == true, "\(remarks)")
        let error = await MigrationError.of { try await router.migrations.rollback("move") }
        #expect(error?.code == .validationFailed)
        #expect(try await router.names(in: before).isEmpty)
    }

    @Test("a replaced value is restored only unchanged; once its bytes are repaired, all values are restored")
    func replaced() async throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let router = try await router(fixture, .takeSource)
        for number in 1...Self.values {
            try await router.set("former \(number)", for: BulkMigrationTests.key("new.\(number)", after))
            try await router.set("moved \(number)", for: BulkMigrationTests.key("old.\(number)", before))
        }
        _ = try await router.runMigration("move")
        #expect(try await router.migrations.checkLedgers().pages.flatMap(\.remarks).isEmpty)
        var names: [String] = []
        store.values.forEachName(in: LedgerPlace.namespace, prefix: "image ", after: nil, limit: nil) {
            names.append($0)
            return true
        }
        #expect(names.count == Self.values)
        let image = StorageAddress(LedgerPlace.namespace, name: try #require(names.last))
        var bytes = Data()
        _ = store.values.get(image) { bytes = $0.withUnsafeBytes { Data($0) } }
        // The bit is in the number, so the value stays a valid text.
        let flipped = Data(bytes.dropLast(2) + [bytes[bytes.count - 2] ^ 1] + bytes.suffix(1))
        store.values.set(image, to: flipped.bytes, attributes: nil)
        let remarks = try await router.migrations.checkLedgers().pages.flatMap(\.remarks)
        #expect(remarks.count == 1 && remarks.first?.contains("is kept damaged") == true, "\(remarks)")
        let error = await MigrationError.of { try await router.migrations.rollback("move") }
        #expect(error?.code == .validationFailed)
        #expect(error?.message.contains("after/new.") == true && error?.message.contains("is damaged") == true)
        #expect(try await router.names(in: before).isEmpty)
        store.values.set(image, to: bytes.bytes, attributes: nil)
        try await router.migrations.rollback("move")
        for number in 1...Self.values {
            #expect(try await router.get(BulkMigrationTests.key("new.\(number)", after)) == "former \(number)")
            #expect(try await router.get(BulkMigrationTests.key("old.\(number)", before)) == "moved \(number)")
        }
    }

    @Test("a record has the hashes of replaced values, and one of an earlier version is read without them")
    func forms() throws {
        var record = BulkRecord()
        let attributes = record.number(of: nil)
        record.items = [
            BulkRecord.Item(suffix: "a", flags: .isReplaced, attributes: attributes, source: 1, destination: 2),
            BulkRecord.Item(suffix: "b", flags: [], attributes: attributes, source: 3, destination: 4),
        ]
        let earlier = try record.encoded()
        #expect(earlier.first == 2)
        #expect(try BulkRecord(earlier, of: "move").items == record.items)
        record.items[0].replaced = 5
        let bytes = try record.encoded()
        #expect(bytes.first == 4 && bytes.count == earlier.count + 8)
        #expect(try BulkRecord(bytes, of: "move").items == record.items)
    }

    @Test("records keep attributes as earlier versions did, and whether there are any")
    func attributes() throws {
        let texts =
            [
                (nil, #"{"isThere":false}"#), (ValueAttributes(), #"{"isThere":true}"#),
                (ValueAttributes(owner: "app", expires: 6), #"{"expires":6,"isThere":true,"owner":"app"}"#),
            ] as [(ValueAttributes?, String)]
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        for (attributes, text) in texts {
            var given = attributes
            given?.size = 4
            #expect(String(decoding: try encoder.encode(KeptAttributes(given)), as: UTF8.self) == text)
            #expect(try JSONDecoder().decode(KeptAttributes.self, from: Data(text.utf8)).attributes == attributes)
        }
    }

    @Test("a page of the ledger with one bit flipped is damaged; one from before pages had a hash is read")
    func page() throws {
        var page = LedgerPage(of: "after:new.*")
        var row = LedgerRow(
            id: "move", revision: 1, state: .clean, written: [], removed: [], committed: 1, duration: 0.25,
            appVersion: nil, expires: nil, pack: nil)
        row.bulk = BulkProgress(AnyBulkMigration(BulkMigrationTests.move(before, after)))
        page["move"] = row
        let bytes = try page.encoded()
        #expect(try LedgerPage(bytes, of: "after:new.*").rows == [row])
        let unhashed = try Serializer<LedgerPage>.json.encode(page)
        #expect(try LedgerPage(unhashed, of: "after:new.*").rows == [row])
        for index in 9..<bytes.count {
            var changed = bytes
            changed[index] ^= 1
            #expect(throws: StorageError.self, "\(index)") { try LedgerPage(changed, of: "after:new.*") }
        }
    }
}
