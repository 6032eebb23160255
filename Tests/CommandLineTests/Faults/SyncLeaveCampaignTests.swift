import FoundationEssentials
import TestSupport
import Testing

/// A device that leaves its group with a change that the others lack, and without a removal that they have made. The
/// command is disturbed at calls that change the file system: at all with `LOCALDATA_TORTURE=1`, otherwise at some.
@Suite("Leaving a sync group under faults", .serialized)
struct SyncLeaveCampaignTests {
    private static let sample = 10

    private struct Leaving: CustomTestStringConvertible {
        let testDescription = "leaving a sync group"
    }

    /// Two devices; what carries their records is in the second one's home.
    private final class Bench {
        let desk: Home
        let laptop: Home
        let disturbed: DisturbedHome

        init() throws {
            (desk, laptop) = (try Home(), try Home())
            try TemporaryFolder.makeFolder("\(laptop.path)/shared")
            let keys = ["mine", "gone"].map { name in
                #"{"address":"userDefaults/\#(name)","security":"none","serializer":"text","type":"String","#
                    + #""owner":"o","description":"d","availability":"all","sync":"automaticSmall"}"#
            }
            let catalog = #"{"format":1,"name":"Demo","keys":[\#(keys.joined(separator: ","))]}"#
            try Data(catalog.utf8).write(to: URL(filePath: "\(laptop.path)/catalog"))
            for home in [desk, laptop] {
                try home.done("config", "set", "catalogs", #"["\#(laptop.path)/catalog"]"#)
                try home.useFolder("\(laptop.path)/shared")
            }
            try desk.done("sync", "init", "--name", "desk")
            try Self.join(laptop, desk)
            try desk.done("set", "userDefaults/gone", "value")
            for home in [desk, laptop, desk, laptop] { try home.done("sync", "pull") }
            try desk.done("rm", "userDefaults/gone")
            try desk.done("sync", "push")
            try laptop.done("set", "userDefaults/mine", "value")
            try Self.copy(desk, "if test -e $i; then cp -a $i before/; fi")
            disturbed = try DisturbedHome(laptop, in: DisturbedHome.all + ["shared"], ["sync", "leave"])
        }

        static func copy(_ home: Home, _ step: String) throws {
            let ending = try home.shell("mkdir -p before; for i in data state config; do \(step); done")
            if ending.status != 0 { throw TestFailure(ending.errors) }
        }

        static func join(_ home: Home, _ host: Home) throws {
            let code = try host.done("sync", "invite").text
            try home.done("sync", "join", "--name", "laptop", input: Array(code.utf8))
        }

        func reset() throws { try Self.copy(desk, "rm -rf $i; if test -e before/$i; then cp -a before/$i $i; fi") }
    }

    @Test("a device that says it has left brings nothing back that the group has removed, and loses no change")
    func campaign() throws {
        let bench = try Bench()
        try FaultCampaign(operation: Leaving(), sample: Self.sample).run(fewest: 20, in: { bench.disturbed }) {
            run, what in
            try bench.reset()
            let (desk, laptop) = (bench.desk, bench.laptop)
            if run.ending.status != 0 {
                // It is in the group, or has left it.
                let again = try laptop.run(BuiltProducts.host, ["sync", "leave"])
                let isGone = again.errors.contains("in no sync group")
                #expect(again.status == 0 || isGone, "\(again.errors); \(what)")
            }
            try desk.done("sync", "pull")
            try Bench.join(laptop, desk)
            for home in [desk, laptop, desk] { try home.done("sync", "pull") }
            for home in [desk, laptop] {
                let found = try home.run(BuiltProducts.host, ["exists", "userDefaults/gone"])
                #expect(found.status == 1, "a removed value is back; \(what)")
                let mine = try home.run(BuiltProducts.host, ["get", "userDefaults/mine"])
                #expect(mine.text.hasPrefix("value"), "a change is lost; \(what)")
            }
        }
    }
}
