import LocalDataTesting
import Testing

/// A transport that breaks one promise, and the check that must find it.
struct BrokenTransport: Sendable, CustomTestStringConvertible {
    /// The check's id without `sync.`.
    let check: String
    let testDescription: String
    /// Runs some checks of the kit over it; `nil` for all.
    let run: @Sendable (_ only: Set<String>?) async throws -> ConformanceReport

    private init<Transport: CorrectTransport>(_ check: String, _ type: Transport.Type) {
        self.check = check
        testDescription = "\(type) breaks \(check)"
        run = { try await SyncConformance.run(type, only: $0) }
    }

    static let all: [BrokenTransport] = [
        BrokenTransport("lifecycle.open", BrokenTransports.NeverOpens.self),
        BrokenTransport("lifecycle.options", BrokenTransports.ListsAnOptionTwice.self),
        BrokenTransport("lifecycle.again", BrokenTransports.ClosesAll.self),
        BrokenTransport("lifecycle.reopen", BrokenTransports.ForgetsAtClose.self),
        BrokenTransport("record.bytes", BrokenTransports.TrimsLineFeeds.self),
        BrokenTransport("record.empty", BrokenTransports.DropsEmptyRecords.self),
        BrokenTransport("record.largest", BrokenTransports.RefusesTheLargest.self),
        BrokenTransport("record.too-large", BrokenTransports.TakesTooLarge.self),
        BrokenTransport("record.many", BrokenTransports.TakesAThousand.self),
        BrokenTransport("record.names", BrokenTransports.CutsNames.self),
        BrokenTransport("record.apart", BrokenTransports.JoinsNames.self),
        BrokenTransport("record.again", BrokenTransports.RefusesAgain.self),
        BrokenTransport("order.writer", BrokenTransports.TurnsBatchesAround.self),
        BrokenTransport("order.newest", BrokenTransports.KeepsTheFirst.self),
        BrokenTransport("order.whole", BrokenTransports.ShowsHalves.self),
        BrokenTransport("position.resume", BrokenTransports.RemembersTheEnd.self),
        BrokenTransport("position.stop", BrokenTransports.SkipsOne.self),
        BrokenTransport("position.steps", BrokenTransports.StepsBack.self),
        BrokenTransport("position.old", BrokenTransports.ForgetsOldPositions.self),
        BrokenTransport("position.garbage", BrokenTransports.FailsOnGarbage.self),
        BrokenTransport("remove.others", BrokenTransports.RemovesOfAll.self),
        BrokenTransport("remove.absent", BrokenTransports.FailsOnAbsent.self),
        BrokenTransport("remove.again", BrokenTransports.BuriesNames.self),
        BrokenTransport("device.sees", BrokenTransports.HoldsBack.self),
        BrokenTransport("device.both", BrokenTransports.LosesOneOfTwoDevices.self),
        BrokenTransport("notice.changed", BrokenTransports.DeafToOthers.self),
        BrokenTransport("notice.fetch", BrokenTransports.NotifiesEarly.self),
        BrokenTransport("notice.end", BrokenTransports.NeverEnds.self),
        BrokenTransport("notice.running", BrokenTransports.EndsAtOnce.self),
        BrokenTransport("cancel.calls", BrokenTransports.StaysCancelled.self),
        BrokenTransport("threads.writers", BrokenTransports.LosesOneOfTwo.self),
    ]
}
