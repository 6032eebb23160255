import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// A batch, disturbed at every one of its calls that change data, state or configuration. All points with
/// `LOCALDATA_TORTURE=1`; otherwise a random part of them, the same for the same `LOCALDATA_SEED`.
@Suite("Batches under faults", .serialized)
struct BatchCampaignTests {
    /// A number of points of one operation that take about 2 s.
    private static let sample = 6

    @Test(
        "a fault at any call leaves all of a batch or nothing of it, also if the state folder is lost then",
        arguments: BatchOperation.all, [false, true])
    func campaign(_ operation: BatchOperation, losesState: Bool) throws {
        let home = try Home()
        try home.done("config", "set", "domains.fileSystem", "sqlite")
        try home.keepUserDefaultsInFiles()
        try home.done("plugins", "list")
        for (address, value) in operation.before.sorted(by: { $0.key < $1.key }) {
            try home.done("set", address, "--stdin", input: Array(value.utf8))
        }
        let disturbed = try DisturbedHome(home, ["batch"], input: operation.input)
        try FaultCampaign(operation: operation, sample: Self.sample).run(fewest: 3, in: { disturbed }) { run, what in
            if losesState, run.mode.kills { _ = try home.shell("rm -rf state") }
            try check(operation, disturbed, run, what)
        }
    }

    private func check(
        _ operation: BatchOperation, _ disturbed: DisturbedHome, _ run: DisturbedHome.Run, _ what: String
    ) throws {
        let ending = run.ending
        if !run.mode.kills {
            #expect(ending.status == 0 || ending.errors.contains("ld-host: error: "), "no message; \(what)")
        }
        let found = try stored(operation, disturbed.home)
        #expect(
            found == operation.before || found == operation.after,
            "a part of the batch: \(found.keys.sorted()); \(what)")
        let isDone = found == operation.after
        #expect(isDone || ending.status != 0, "success without effect; \(what)")
        let mayBeDone =
            ending.errors.contains("is decided") || ending.errors.contains("is committed")
            || ending.errors.contains("power loss")
        #expect(!isDone || ending.status == 0 || run.mode.kills || mayBeDone, "failure with effect; \(what)")
        #expect(try disturbed.run().status == 0, "cannot be done again; \(what)")
        #expect(try stored(operation, disturbed.home) == operation.after, "not done by the next; \(what)")
        #expect(try disturbed.debris() == [], "\(what)")
        let doctor = try disturbed.home.run("doctor")
        #expect(!doctor.text.contains("!!"), "\(doctor.text); \(what)")
    }

    private func stored(_ operation: BatchOperation, _ home: Home) throws -> [String: String] {
        var found: [String: String] = [:]
        for domain in operation.domains {
            let ending = try home.run("export", domain.contains(":") ? domain : "\(domain)/")
            guard ending.status == 0 else { throw TestFailure("\(domain): \(ending.errors)") }
            let entries = try JSONDecoder().decode([String: [String: String]].self, from: Data(ending.output))
            for (name, entry) in entries { found["\(domain)/\(name)"] = entry["$text"] }
        }
        return found
    }
}
