import FoundationEssentials
import Glibc
import LocalDataAPI
import TestSupport
import Testing

/// One change of a SQLite database, disturbed at every one of its calls that change the file system. All points with
/// `LOCALDATA_TORTURE=1`; otherwise a random part of them, the same for the same `LOCALDATA_SEED`.
@Suite("SQLite databases under faults", .serialized)
struct DatabaseCampaignTests {
    /// A number of points of one operation that take some seconds.
    private static let sample = 6

    @Test(
        "a fault at any call leaves all values as before or all as afterwards, and a sound database",
        arguments: DatabaseOperation.all)
    func campaign(_ operation: DatabaseOperation) throws {
        let disturbed = try prepare(operation)
        let calls = try disturbed.calls()
        #expect(try values(disturbed.home) == operation.new)
        try #require(calls.contains { $0.name.hasSuffix("sync") && $0.path.hasSuffix("-wal") }, "\(calls)")
        try FaultCampaign(operation: operation, sample: Self.sample).run(fewest: 2, in: { disturbed }) { run, what in
            try check(operation, run, what)
        }
    }

    private func check(_ operation: DatabaseOperation, _ run: DisturbedHome.Run, _ what: String) throws {
        let (home, hit, said) = (run.home, run.hit, DatabaseSteps.said(in: run.ending))
        let what = "\(what), said \(said ?? "nothing")"
        let found = try values(home)
        #expect(found == operation.old || found == operation.new, "neither before nor after; \(what)")
        if !run.mode.kills {
            let said = try #require(said, "\(what), \(run.ending.text)")
            let code = said.split(separator: " ").first.flatMap { Int32($0) }.map(StorageError.Code.init)
            switch code {
            case nil:
                #expect(said == "done", "\(what)")
                #expect(found == operation.new, "success without effect; \(what)")
                // SQLite also synchronizes the folder, after the store, and ignores a failure.
                let isRepeated = run.before.contains {
                    $0.name == "fsync" && $0.path == hit.path && $0.result == "0"
                }
                // When the program ends, the log is synchronized once more, and copied into the database. If that
                // fails, all is in the log, which was synchronized after it was last written.
                let last = run.before.last { $0.path.hasSuffix("-wal") && $0.name.firstMatch(of: /write|sync/) != nil }
                let isInLog = last.map { $0.name.hasSuffix("sync") && $0.result == "0" } ?? false
                let isCopying = isInLog && (hit.path.hasSuffix(".sqlite") || hit.path.hasSuffix("-wal"))
                #expect(
                    !hit.name.hasSuffix("sync") || isRepeated || isCopying, "success though a sync failed; \(what)")
            case .timedOut: break
            case .durabilityUnknown: #expect(found == operation.new, "\(what)")
            default: #expect(found == operation.old, "an error, and the change is there; \(what)")
            }
            #expect(code == nil || said.contains("/data"), "the message names no file; \(what)")
        }
        let store = try DatabaseUnderFaults(in: home.path)
        try store.set("after", Data("after".utf8))
        #expect(try store.values()["after"] == Data("after".utf8), "not writable afterwards; \(what)")
        #expect(try store.findings() == [], "damaged after the next set; \(what)")
        store.close()
        #expect(try home.shell("ls -A data").text == "values.sqlite\n", "debris; \(what)")
    }

    /// The values, of a database that must be sound.
    private func values(_ home: Home) throws -> DatabaseOperation.Values {
        let store = try DatabaseUnderFaults(in: home.path)
        defer { store.close() }
        #expect(try store.findings() == [])
        return try store.values()
    }

    /// Makes the state before. Its log is not yet checkpointed, as while programs are running.
    private func prepare(_ operation: DatabaseOperation) throws -> DisturbedHome {
        let home = try Home()
        try TemporaryFolder.makeFolder("\(home.path)/data")
        let store = try DatabaseUnderFaults(in: home.path)
        for (name, value) in operation.old.sorted(by: { $0.key < $1.key }) { try store.set(name, value) }
        let disturbed = try DisturbedHome(home, in: ["data"]) { try DatabaseSteps.run(operation, in: home, $0) }
        _ = try home.shell("rm -f before/data/*-shm")
        store.close()
        return disturbed
    }
}
