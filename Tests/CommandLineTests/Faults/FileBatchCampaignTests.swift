import FoundationEssentials
import Glibc
import LocalDataAPI
import LocalDataHost
import Testing

/// A batch, disturbed at every one of its calls that change the file system. All points with `LOCALDATA_TORTURE=1`;
/// otherwise a random part of them, the same for the same `LOCALDATA_SEED`.
@Suite("The file store's batches under faults", .serialized)
struct FileBatchCampaignTests {
    /// A number of points of one batch that take about 1.5 s.
    private static let sample = 16

    @Test("a fault at any call leaves all of a batch or nothing, and no debris", arguments: FileBatchOperation.all)
    func campaign(_ operation: FileBatchOperation) throws {
        let bench = try FileBatchBench(operation)
        _ = try bench.disturbed.calls()
        try #require(bench.outcome == "applied", "\(bench.outcome)")
        var committed = 0
        try FaultCampaign(operation: operation, sample: Self.sample)
            .run(fewest: 10, in: { bench.disturbed }) { run, what in
                if try check(bench, run, "\(what), '\(bench.outcome)'") { committed += 1 }
            }
        print("faults: \(operation.name): \(committed) applied")
    }

    /// Returns whether the batch took effect.
    private func check(_ bench: FileBatchBench, _ run: DisturbedHome.Run, _ what: String) throws -> Bool {
        let (operation, hit, outcome) = (bench.operation, run.hit, bench.outcome)
        let home = bench.home.path
        let store = try FileBatchOperation.open(home)
        defer { store.close() }
        let found = try operation.values(in: store, home)
        let (old, new) = (operation.changes.map(\.old), operation.changes.map(\.new))
        #expect(found == old || found == new, "part of the batch: \(found); \(what)")
        #expect(try bench.debris() == [], "debris; \(what)")
        if !run.mode.kills {
            #expect(run.ending.status == 0, "an unexpected end; \(what)")
            let isApplied = outcome == "applied"
            let isUnknown = outcome.hasPrefix("unknown: ")
            #expect((found == new) == (isApplied || isUnknown), "the outcome does not say what holds; \(what)")
            #expect(!isApplied || !hit.name.hasPrefix("fsync") && hit.name != "syncfs", "a sync failed; \(what)")
            #expect(isApplied || outcome.contains("/data"), "the message names no file; \(what)")
        }
        if !operation.isHomeEmpty {
            let sibling = try store.with("sibling", "sibling", home) { try store.get($0) }
            #expect(sibling == Data("sibling".utf8), "another value was changed; \(what)")
        }
        try operation.apply(to: store, home)
        #expect(try operation.values(in: store, home) == new, "not writable afterwards; \(what)")
        #expect(try bench.debris() == [], "debris after the next batch; \(what)")
        return found == new
    }

    /// Killing a process cannot show this; see ``CallOrderTests``.
    @Test("staged files are synced before the batch is committed, and their folders before it ends")
    func order() throws {
        for operation in FileBatchOperation.all {
            let bench = try FileBatchBench(operation)
            let calls = try bench.disturbed.calls()
            let commit = try #require(calls.firstIndex { $0.target?.hasSuffix("/.batch/journal") == true }, "\(calls)")
            let staged = calls.indices.filter {
                calls[$0].name == "openat" && calls[$0].path.contains("/.tmp/.") && !calls[$0].result.hasPrefix("-")
            }
            #expect(staged.count == operation.changes.count { $0.new != nil }, "\(calls)")
            for index in staged {
                let path = calls[index].path
                let last = calls[..<commit].lastIndex { $0.path == path && !$0.name.hasSuffix("sync") } ?? index
                let isSynced = calls[last..<commit].contains {
                    $0.result == "0" && ($0.name == "syncfs" || ($0.name == "fsync" && $0.path == path))
                }
                #expect(isSynced, "\(path) is not synced before the commit: \(calls)")
                let hasName = calls[index..<commit].contains {
                    $0.result == "0"
                        && ($0.name == "syncfs" || ($0.name == "fsync" && $0.path == calls[index].folder))
                }
                #expect(hasName, "the name of \(path) is not synced before the commit: \(calls)")
                #expect(calls[commit...].contains { $0.path == path && $0.name == "renameat" }, "\(calls)")
            }
            let journal = calls[commit].path
            let written = try #require(calls[..<commit].firstIndex { $0.target == journal }, "\(calls)")
            #expect(calls[..<written].contains { $0.name == "fsync" && $0.path == calls[written].path }, "\(calls)")
            let firstStaged = staged.first ?? commit
            #expect(written < firstStaged, "staged before it was written down: \(calls)")
            let changed = calls.indices.filter {
                $0 > commit && (calls[$0].target != nil || calls[$0].name == "unlinkat")
                    && !calls[$0].path.contains("/.batch/") && !calls[$0].path.hasSuffix("~")
            }
            let synced = try #require(calls.indices.first { $0 > commit && calls[$0].name == "fsync" }, "\(calls)")
            #expect(synced < changed[0] && calls[synced].path.hasSuffix("/.batch"), "\(calls)")
            let over = try #require(
                calls.firstIndex { $0.name == "unlinkat" && $0.path.hasSuffix("/.batch/journal") }, "\(calls)")
            for index in changed where index < over {
                let folder = FaultShim.Call.folder(of: calls[index].target ?? calls[index].path)
                #expect(
                    calls[index..<over].contains { $0.name == "fsync" && $0.path == folder },
                    "\(folder) is not synced before the batch is over: \(calls)")
            }
        }
    }
}
