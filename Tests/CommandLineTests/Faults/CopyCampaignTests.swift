import FoundationEssentials
import Glibc
import Testing

/// A copy of one store to another, disturbed at every one of its calls that change data, state or configuration. All
/// points with `LOCALDATA_TORTURE=1`; otherwise a random part of them, the same for the same `LOCALDATA_SEED`.
@Suite("Copies of stores under faults", .serialized)
struct CopyCampaignTests {
    /// A number of points of one operation that take about 2 s.
    private static let sample = 4

    @Test(
        "a fault at any call leaves every value in one store or the other, and the next run completes the copy",
        arguments: CopyOperation.all)
    func campaign(_ operation: CopyOperation) throws {
        let home = try CopyHome(operation)
        let disturbed = try DisturbedHome(home.home, operation.words)
        try FaultCampaign(operation: operation, sample: Self.sample).run(fewest: 20, in: { disturbed }) { run, what in
            try check(operation, home, disturbed, run, what)
        }
    }

    private func check(
        _ operation: CopyOperation, _ home: CopyHome, _ disturbed: DisturbedHome, _ run: DisturbedHome.Run,
        _ what: String
    ) throws {
        let ending = run.ending
        if !run.mode.kills {
            #expect(ending.status == 0 || ending.errors.contains("ld-host: error: "), "no message; \(what)")
        }
        let isDone = try state(operation, home, what)
        #expect(isDone || ending.status != 0, "success without effect; \(what)")
        // Repeat the command, as the next caller would.
        let again = try disturbed.run()
        #expect(again.status == 0, "cannot be completed: \(again.errors); \(what)")
        #expect(try state(operation, home, "afterwards; \(what)"), "not completed by the next; \(what)")
        #expect(try disturbed.debris() == [], "\(what)")
    }

    /// Checks the conditions that must hold at every instant, and returns whether the operation is complete.
    private func state(_ operation: CopyOperation, _ home: CopyHome, _ what: String) throws -> Bool {
        let (source, destination) = (try home.source(), try home.destination())
        for (address, value) in home.secrets {
            let (from, to) = (source.secrets[address], destination.secrets[address])
            #expect(
                from == value || (operation.moves && from == nil), "\(address) is another one in the source; \(what)")
            #expect(from == value || to == value, "\(address) is lost; \(what)")
            let isOlder = operation.overwrites && to == CopyOperation.older && address == KeyHome.overwrittenSecret
            #expect(to == value || to == nil || isOlder, "\(address) is another one in the destination; \(what)")
        }
        let names = Set(home.secrets.keys)
        #expect(names.isSuperset(of: source.secrets.keys) && names.isSuperset(of: destination.secrets.keys), "\(what)")
        // The source serves the keychain, so the keys stay in it even if everything else moves.
        #expect(source.opensTheRest, "the keys have left the keychain; \(what)")
        return destination == home.all && (operation.moves ? source.secrets.isEmpty : source == home.all)
    }
}
