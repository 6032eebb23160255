import FoundationEssentials
import Glibc
import LocalDataAPI
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
        let home = try Home()
        try prepare(operation, home)
        let log = "\(home.path)/log"
        try reset(home)
        let (ending, said) = try DatabaseSteps.run(operation, in: home, variables(home))
        try #require(said == "done", "\(ending.text)\(ending.errors)")
        #expect(try values(home) == operation.new)
        let calls = try FaultShim.calls(in: log)
        try #require(calls.contains { $0.name.hasSuffix("sync") && $0.path.hasSuffix("-wal") }, "\(calls)")
        var points = FaultMode.allCases.flatMap { mode in (1...calls.count).map { (mode, $0) } }
        let all = points.count
        if !BuiltProducts.isTorture {
            var generator = SeededGenerator(state: SeededGenerator.seed)
            points = Array(points.shuffled(using: &generator).prefix(Self.sample))
        }
        for (mode, number) in points {
            let place =
                "\(operation.name), \(mode.rawValue) at call \(number) of \(calls.count), seed \(SeededGenerator.seed)"
            do { try check(operation, home, mode, number, place) } catch { Issue.record("\(place): \(error)") }
        }
        print("faults: \(operation.name) of a database: \(points.count) of \(all) points, seed \(SeededGenerator.seed)")
    }

    private func check(
        _ operation: DatabaseOperation, _ home: Home, _ mode: FaultMode, _ number: Int, _ place: String
    ) throws {
        try reset(home)
        let (ending, said) = try DatabaseSteps.run(
            operation, in: home,
            variables(home).merging(["LD_FAULT_AT": String(number), "LD_FAULT_MODE": mode.rawValue]) { $1 })
        let calls = try FaultShim.calls(in: "\(home.path)/log")
        let hit = try #require(calls.dropFirst(number - 1).first, "\(place): the call was not reached")
        let what = "\(place): \(hit.name) \(hit.path): status \(ending.status), said \(said ?? "nothing")"
        let found = try values(home)
        #expect(found == operation.old || found == operation.new, "neither before nor after; \(what)")
        if mode.kills {
            #expect(ending.status == 128 + SIGKILL, "not killed; \(what)")
        } else {
            let said = try #require(said, "\(what), \(ending.text)")
            let code = said.split(separator: " ").first.flatMap { Int32($0) }.map(StorageError.Code.init)
            switch code {
            case nil:
                #expect(said == "done", "\(what)")
                #expect(found == operation.new, "success without effect; \(what)")
                // SQLite synchronizes the folder as well, after us, and takes no notice if that fails.
                let isRepeated = calls.prefix(number - 1).contains {
                    $0.name == "fsync" && $0.path == hit.path && $0.result == "0"
                }
                #expect(!hit.name.hasSuffix("sync") || isRepeated, "success though a sync failed; \(what)")
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

    /// The values, of a database that is sound.
    private func values(_ home: Home) throws -> DatabaseOperation.Values {
        let store = try DatabaseUnderFaults(in: home.path)
        defer { store.close() }
        #expect(try store.findings() == [])
        return try store.values()
    }

    /// Makes the state before, with its log not yet brought into the database, as it is while programs are at work.
    private func prepare(_ operation: DatabaseOperation, _ home: Home) throws {
        _ = try home.shell("mkdir data")
        let store = try DatabaseUnderFaults(in: home.path)
        for (name, value) in operation.old.sorted(by: { $0.key < $1.key }) { try store.set(name, value) }
        _ = try home.shell("cp -a data before")
        store.close()
    }

    private func reset(_ home: Home) throws {
        let ending = try home.shell("rm -rf data log && cp -a before data && rm -f data/*-shm")
        guard ending.status == 0 else { throw Home.Failure(description: ending.errors) }
    }

    private func variables(_ home: Home) throws -> [String: String] {
        [
            "LD_PRELOAD": try FaultShim.library.get(), "LD_FAULT_ROOT": "\(home.path)/data",
            "LD_FAULT_LOG": "\(home.path)/log",
        ]
    }
}
