import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// A domain that goes from one store to another, disturbed at every call that changes data, state or configuration, and
/// at every message to a server. All points with `LOCALDATA_TORTURE=1`; otherwise a random part of them, the same for
/// the same `LOCALDATA_SEED`.
@Suite("Switches of stores under faults", .serialized)
struct SwitchCampaignTests {
    /// A number of points of one pair that take about 1 s.
    private static let sample = 2

    @Test(
        "a fault at any call leaves all values in the one store that serves, and the command can be done again",
        arguments: wanted(SwitchOperation.all))
    func campaign(_ operation: SwitchOperation) throws {
        let home = try SwitchHome(operation)
        try FaultCampaign(operation: operation, sample: Self.sample).run(fewest: 20, in: { try home.prepared() }) {
            (run, what) in
            if !run.mode.kills {
                #expect(
                    run.ending.status == 0 || run.ending.errors.contains("ld-host: error: "), "no message; \(what)")
            }
            try check(home, run.ending, what)
        }
    }

    @Test(
        "a disk of either store that is full from any call on takes no value, and leaves all in one store later",
        arguments: wanted(SwitchOperation.all.filter { !$0.usesServer }))
    func fullDisk(_ operation: SwitchOperation) throws {
        for store in [operation.source, operation.destination] {
            let home = try SwitchHome(operation, disk: store)
            let calls = try home.prepared().calls()
            let points = (1...calls.count).map { FaultPoint(mode: .noSpace, number: $0, lasts: true) }
            FaultCampaign(operation: operation, sample: 1).attempt(
                TestRun.sample(1, of: points), of: points.count, calls: calls.count
            ) { point, place in
                let run = try home.disturbed.run(point)
                let what = "disk of \(store), \(place): \(run.hit): status \(run.ending.status), \(run.ending.errors)"
                let always = FaultPoint(mode: .noSpace, number: 1, lasts: true)
                let export = try home.exported(adding: home.disturbed.injection.merging(always.variables) { $1 })
                // SQLite's index needs room beside the database, also for reading.
                let isUnread = export.status == 2 && home.usesDatabase(disk: store)
                if isUnread {
                    #expect(
                        export.errors.contains(".sqlite'") && export.errors.contains("ld-host: hint: ")
                            && export.output.isEmpty,
                        "\(export.errors); \(what)")
                } else {
                    #expect(try home.values(in: export) == home.values, "\(what)")
                }
                try check(home, run.ending, what)
            }
        }
    }

    @Test(
        "a process or a connection that ends at any message does neither",
        arguments: wanted(SwitchOperation.all.filter(\.usesServer)))
    func server(_ operation: SwitchOperation) throws {
        let home = try SwitchHome(operation)
        let (ending, messages) = try home.run(nil)
        try #require(ending.status == 0 && messages >= 5, "\(messages) messages; \(ending.errors)")
        let all = ServerMigrationPoint.Mode.allCases.flatMap { mode in
            (1...messages).map { ServerMigrationPoint(mode: mode, number: $0) }
        }
        FaultCampaign(operation: operation, sample: Self.sample)
            .attempt(TestRun.sample(Self.sample, of: all), of: all.count, calls: messages) { point, place in
                let (ending, messages) = try home.run(point)
                // Waiting for others takes more or fewer messages.
                let isHit = messages >= point.number
                let what = "\(place): status \(ending.status), \(ending.errors)"
                if isHit, point.mode.kills { #expect(ending.status == 128 + SIGKILL, "not killed; \(what)") }
                if !point.mode.kills { #expect([0, 2].contains(ending.status), "an unexpected end; \(what)") }
                try check(home, ending, what)
            }
    }

    private func check(_ home: SwitchHome, _ ending: Home.Ending, _ what: String) throws {
        let operation = home.operation
        let found = try home.state()
        #expect(found.values == home.values, "read after it; \(what)")
        let (serving, other) =
            found.store == operation.destination
            ? (operation.destination, operation.source) : (operation.source, operation.destination)
        #expect(found.store == serving, "the line names '\(found.store)'; \(what)")
        #expect(ending.status != 0 || serving == operation.destination, "success without effect; \(what)")
        #expect(try home.names(in: other) == [], "left in '\(other)'; \(what)")
        let again = try home.disturbed.run()
        #expect(again.status == 0, "cannot be done again: \(again.errors); \(what)")
        #expect(
            try home.state() == SwitchHome.State(store: operation.destination, values: home.values),
            "after it was done again; \(what)")
        #expect(try home.names(in: operation.source) == [], "left after it was done again; \(what)")
        #expect(try home.disturbed.debris() == [], "\(what)")
        let other2 = try home.home.run("get", "fileSystem/other")
        #expect(other2.text == "stays", "\(other2.errors); \(what)")
    }

    /// All pairs with torture, otherwise some.
    private static func wanted(_ operations: [SwitchOperation]) -> [SwitchOperation] {
        TestRun.sample(4, of: operations)
    }
}
