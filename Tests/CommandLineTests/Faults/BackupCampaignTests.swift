import Glibc
import TestSupport
import Testing

/// A backup and its restore, disturbed at every one of their calls that change data, state or configuration. All points
/// with `LOCALDATA_TORTURE=1`; otherwise a random part of them, the same for the same `LOCALDATA_SEED`.
@Suite("Backups under faults", .serialized)
struct BackupCampaignTests {
    /// A number of points of one operation that take about 3 s.
    private static let sample = 5
    private static let passphrase = Array("open sesame".utf8)

    @Test(
        "a fault at any call of a restore leaves all of the old values or all of the new",
        arguments: RestoreOperation.all)
    func restore(_ operation: RestoreOperation) throws {
        let maker = try Home()
        for (address, value) in operation.backedUp { try maker.done("set", address, "--stdin", input: value) }
        let file = "\(maker.path)/backup"
        try maker.done("backup", file, "--passphrase-fd", "0", input: Self.passphrase)
        let home = try operation.home()
        let words = ["restore", file, "--overwrite", "--passphrase-fd", "0"]
        let disturbed = try DisturbedHome(home, words, input: Self.passphrase)
        // A large value in a database takes some thousand calls, one for each page.
        let campaign = FaultCampaign(operation: operation, sample: Self.sample, most: 2000)
        try campaign.run(fewest: 6, in: { disturbed }) { run, what in
            let ending = run.ending
            if !run.mode.kills {
                #expect(ending.status == 0 || ending.errors.contains("ld-host: error: "), "no message; \(what)")
            }
            let found = try operation.stored(in: home)
            #expect(
                found == operation.before || found == operation.after,
                "a part of the backup: \(found.keys.sorted()); \(what)")
            let isDone = found == operation.after
            #expect(isDone || ending.status != 0, "success without effect; \(what)")
            let mayBeDone = ["is decided", "is committed", "power loss"].contains { ending.errors.contains($0) }
            #expect(!isDone || ending.status == 0 || run.mode.kills || mayBeDone, "failure with effect; \(what)")
            let again = try disturbed.run()
            #expect(again.status == 0, "cannot be done again: \(again.errors); \(what)")
            #expect(try operation.stored(in: home) == operation.after, "not done by the next; \(what)")
            #expect(try disturbed.debris() == [], "\(what)")
            #expect(try operation.staged(in: home) == [], "\(what)")
            let doctor = try home.run("doctor")
            #expect(!doctor.text.contains("!!"), "\(doctor.text); \(what)")
        }
    }

    @Test("a fault at any call of a backup leaves no file under its name, or a whole one", arguments: [false, true])
    func backup(_ overwrites: Bool) throws {
        let home = try Home()
        for (address, value) in RestoreOperation.all[0].backedUp {
            try home.done("set", address, "--stdin", input: value)
        }
        let file = "\(home.path)/data/backup"
        if overwrites { try home.done("backup", file, "--passphrase-fd", "0", input: Self.passphrase) }
        let disturbed = try DisturbedHome(
            home, ["backup", file, "--overwrite", "--passphrase-fd", "0"], input: Self.passphrase)
        let operation = BackupOperation(overwrites: overwrites)
        try FaultCampaign(operation: operation, sample: Self.sample).run(fewest: 4, in: { disturbed }) { run, what in
            let isThere = access(file, F_OK) == 0
            #expect(isThere || !overwrites && run.ending.status != 0, "no file; \(what)")
            if isThere {
                let check = try home.run("restore", file, "--plan", "--passphrase-fd", "0", input: Self.passphrase)
                #expect(check.status == 0, "a damaged file: \(check.errors); \(what)")
            }
            let again = try disturbed.run()
            #expect(again.status == 0, "cannot be done again: \(again.errors); \(what)")
            let left = try home.shell("find data -name '.backup*'").text
            #expect(left.isEmpty, "\(left); \(what)")
        }
    }
}

private struct BackupOperation: CustomTestStringConvertible {
    let overwrites: Bool

    var testDescription: String { overwrites ? "backup over an older one" : "backup" }
}
