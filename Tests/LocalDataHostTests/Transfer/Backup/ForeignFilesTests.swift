import Foundation
import Glibc
import LocalDataAPI
import TestSupport
import Testing

@testable import HostGround
@testable import HostPlugins
@testable import HostTransfer
@testable import LocalDataHost

/// Backups, documents and snapshots of somebody else, changed at random and then sealed as they should be: what can be
/// made by anyone who knows the formats. 10,000 of them with `LOCALDATA_TORTURE=1`; otherwise some, the same for the
/// same `LOCALDATA_SEED`.
@Suite("files of somebody else", .timeLimit(.minutes(TestRun.isTorture ? 240 : 4))) struct ForeignFilesTests {
    private static let backups = TestRun.isTorture ? 4000 : 40
    private static let documents = TestRun.isTorture ? 3000 : 25
    private static let snapshots = TestRun.isTorture ? 3000 : 25

    @Test("a restore of a changed backup writes nothing outside, takes no key, and leaves lists working")
    func backup() async throws {
        let maker = try SealedHome()
        let victim = try await Victim()
        defer {
            maker.remove()
            victim.remove()
        }
        let model = try await Self.backup(maker, victim)
        let path = "\(maker.folder)/changed"
        var random = SeededGenerator(seed: TestRun.seed)
        var restored = 0
        for number in 0..<Self.backups {
            var backup = model
            for _ in 0...Int.random(in: 0..<3, using: &random) { victim.change(&backup, &random) }
            let router = victim.router
            // Records of one address, for one, make no file.
            do { try await backup.write(to: path, router) } catch { continue }
            let overwrites = Bool.random(using: &random)
            do {
                restored += try await router.restore(path) { $0.overwrites = overwrites }.restored > 0 ? 1 : 0
            } catch is StorageError {}
            try await victim.check("backup \(number): \(backup.records.map(\.item.description))")
        }
        // Not all are refused.
        #expect(restored > 0)
    }

    @Test("an import or a batch of a changed document writes nothing outside, and leaves lists working")
    func document() async throws {
        let victim = try await Victim()
        defer { victim.remove() }
        var random = SeededGenerator(seed: TestRun.seed)
        var imported = 0
        for number in 0..<Self.documents {
            var entries: [String] = []
            for _ in 0...Int.random(in: 0..<3, using: &random) { entries.append(victim.address(&random)) }
            let isBatch = Bool.random(using: &random)
            let values = entries.map { (address: JSONValue.string($0), value: "{\"$text\": \"ssh-ed25519 AAAA\"}") }
            let text =
                isBatch
                ? try values.map { "{\"set\": \(try $0.address.serialized()), \"value\": \($0.value)}\n" }.joined()
                : "{\"$addresses\": {"
                    + (try values.map { "\(try $0.address.serialized()): \($0.value)" }.joined(separator: ", ")) + "}}"
            let file = "\(victim.home.folder)/document"
            try Data(text.utf8).write(to: URL(filePath: file))
            let end = try victim.run(isBatch ? "batch" : "import", file)
            imported += end.outcome == .exited(code: 0) ? 1 : 0
            try await victim.check("document \(number): \(text)")
        }
        #expect(imported > 0)
    }

    @Test("a changed snapshot stores values of the app's own keys alone")
    func snapshot() async throws {
        let maker = try await Victim()
        let victim = try await Victim()
        defer {
            maker.remove()
            victim.remove()
        }
        let theirs = maker.app
        for key in Victim.keys { try await theirs.set("theirs", for: key) }
        let model = await theirs.syncSnapshot()
        #expect(model.count == Victim.keys.count)
        var random = SeededGenerator(seed: TestRun.seed)
        var stored = 0
        for number in 0..<Self.snapshots {
            var snapshot: [String: Data] = [:]
            for (name, data) in model.sorted(by: { $0.key < $1.key }) {
                let value = try SnapshotValue(data)
                var changed = SnapshotValue(
                    address: Bool.random(using: &random) ? value.address : victim.address(&random), data: value.data,
                    attributes: value.attributes, time: Bool.random(using: &random) ? value.time : .max
                ).encoded
                if Int.random(in: 0..<4, using: &random) == 0 { victim.damage(&changed, &random) }
                snapshot[Bool.random(using: &random) ? name : victim.address(&random)] = changed
            }
            stored += try await victim.app.apply(snapshot: snapshot).stored.count
            try await victim.check("snapshot \(number): \(snapshot.keys.sorted())")
        }
        #expect(stored > 0)
    }

    /// A backup with a value in each domain, and with keys.
    private static func backup(_ maker: SealedHome, _ victim: Victim) async throws -> CraftedBackup {
        let router = try maker.router(domains: "", "encryption: { service: \"evil\" }")
        for domain in Victim.domains { try await router.set("theirs", for: textKey("k", domain)) }
        try await router.set("secret", for: textKey("s", .encryptedFileSystem(), security: .recommended))
        let path = "\(maker.folder)/backup"
        _ = try await router.backUp(path)
        return try await CraftedBackup(path, router)
    }
}
