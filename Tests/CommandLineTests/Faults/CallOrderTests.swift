import FoundationEssentials
import Testing

/// Killing a process cannot show these defects: the page cache outlives the process, so a sync that is missing or too
/// late shows only in the order of the calls.
@Suite("The order of the file store's calls", .serialized)
struct CallOrderTests {
    private static let sets = FaultOperation.all.filter { $0.new != nil }
    private static let removals = FaultOperation.all.filter { $0.new == nil }

    @Test(
        "a value is complete and synced under another name before it is renamed, and its folder is synced after",
        arguments: sets)
    func set(_ operation: FaultOperation) throws {
        let calls = try FaultBench(operation).disturbed.calls()
        // A rename that fails because folders are missing may come first.
        let renames = calls.indices.filter { calls[$0].name.hasPrefix("rename") && calls[$0].result == "0" }
        try #require(renames.count == 1, "\(calls)")
        let rename = renames[0]
        let (temporary, final) = (calls[rename].path, try #require(calls[rename].target))
        let creations = calls.indices.filter { calls[$0].name.hasPrefix("open") && calls[$0].path == temporary }
        try #require(creations.count == 1, "\(calls)")
        #expect(temporary.contains("/.tmp/"))
        let between = calls[(creations[0] + 1)..<rename]
            .filter { $0.path == temporary && !$0.name.hasPrefix("rename") }.map(\.name)
        let sync = try #require(between.firstIndex(of: "fsync"), "\(calls)")
        #expect(between[..<sync].contains { $0.hasPrefix("write") || $0.hasPrefix("pwrite") }, "\(calls)")
        #expect(between[sync...] == ["fsync"], "changed after its sync: \(calls)")
        #expect(calls.allSatisfy { $0.path != final }, "the file in place is touched: \(calls)")
        let after = calls[(rename + 1)...]
        #expect(after.contains { $0.isSync(of: FaultShim.Call.folder(of: final)) }, "\(calls)")
        #expect(after.allSatisfy { $0.path != temporary }, "\(calls)")
    }

    @Test("each folder that is made is synced into its parent before the value is acknowledged", arguments: sets)
    func folders(_ operation: FaultOperation) throws {
        let calls = try FaultBench(operation).disturbed.calls()
        let made = calls.indices.filter {
            calls[$0].name.hasPrefix("mkdir") && calls[$0].result == "0" && !calls[$0].path.hasSuffix("/.tmp")
        }
        if operation.isHomeEmpty || operation.name == "set, long name" { #expect(!made.isEmpty, "\(calls)") }
        for index in made {
            // The first folder's parent lies above what the injector watches.
            let isWatched = calls[index].folder.contains("/data")
            #expect(
                !isWatched || calls[(index + 1)...].contains { $0.isSync(of: calls[index].folder) },
                "\(calls[index].path) may be gone after a power loss: \(calls)")
        }
    }

    @Test("a removal is synced before it is acknowledged", arguments: removals)
    func removal(_ operation: FaultOperation) throws {
        let calls = try FaultBench(operation).disturbed.calls()
        let removal = try #require(calls.firstIndex { $0.name.hasPrefix("unlink") }, "\(calls)")
        #expect(!calls[removal].path.contains("/.tmp/"))
        #expect(calls[(removal + 1)...].contains { $0.isSync(of: calls[removal].folder) }, "\(calls)")
    }
}

extension FaultShim.Call {
    fileprivate func isSync(of path: String) -> Bool { name == "fsync" && self.path == path && result == "0" }
}

extension FaultShim.Call: CustomStringConvertible {
    /// The call as a line.
    var description: String { "\(name) \(path)\(target.map { " \($0)" } ?? "") = \(result)" }
}
