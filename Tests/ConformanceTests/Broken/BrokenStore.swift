import LocalDataTesting
import Testing

/// A store that breaks one promise, and the check that must find it.
struct BrokenStore: Sendable, CustomTestStringConvertible {
    let check: String
    let testDescription: String
    /// Runs the kit over it.
    let run: @Sendable () async throws -> ConformanceReport

    private init<Store: CorrectStore>(_ check: String, _ type: Store.Type) {
        self.check = check
        testDescription = "\(type) breaks \(check)"
        run = { try await StorageConformance.run(type) }
    }

    static let all: [BrokenStore] = [
        BrokenStore("lifecycle.open", BrokenLifecycle.NeverOpens.self),
        BrokenStore("lifecycle.options", BrokenLifecycle.ListsAnOptionTwice.self),
        BrokenStore("lifecycle.reopen", BrokenLifecycle.OpensOnce.self),
        BrokenStore("durable.reopen", BrokenLifecycle.ForgetsAtClose.self),
        BrokenStore("value.empty", BrokenValues.DropsEmptyValues.self),
        BrokenStore("value.bytes", BrokenValues.TrimsLineFeeds.self),
        BrokenStore("value.sizes", BrokenValues.CutsAtABoundary.self),
        BrokenStore("value.large", BrokenValues.CutsLargeValues.self),
        BrokenStore("value.too-large", BrokenValues.LosesTheOldValue.self),
        BrokenStore("value.borrowed", BrokenValues.KeepsThePointer.self),
        BrokenStore("value.secret", BrokenValues.LogsValues.self),
        BrokenStore("name.any", BrokenNames.RefusesLineFeeds.self),
        BrokenStore("name.long", BrokenNames.RefusesLongNames.self),
        BrokenStore("name.apart", BrokenNames.FoldsCase.self),
        BrokenStore("place.scopes", BrokenNames.UnescapesScopes.self),
        BrokenStore("place.domains", BrokenNames.FoldsDomains.self),
        BrokenStore("get.absent", BrokenPresence.FindsByPrefix.self),
        BrokenStore("exists.agrees", BrokenPresence.SaysYes.self),
        BrokenStore("set.replaces", BrokenPresence.KeepsTheTail.self),
        BrokenStore("remove.removes", BrokenPresence.KeepsSomeRemoved.self),
        BrokenStore("remove.absent", BrokenPresence.FailsOnAbsent.self),
        BrokenStore("handle.lasts", BrokenPresence.LetsHandlesDie.self),
        BrokenStore("handle.agree", BrokenPresence.CachesByHandle.self),
        BrokenStore("boundary.one-write", BrokenBoundary.DeliversTwice.self),
        BrokenStore("boundary.no-lock", BrokenBoundary.HoldsALock.self),
        BrokenStore("order.threads", BrokenThreads.ShowsItLate.self),
        BrokenStore("threads.own-names", BrokenThreads.LosesOneOfTwo.self),
        BrokenStore("threads.one-name", BrokenThreads.TearsReads.self),
        BrokenStore("threads.replace", BrokenThreads.RemovesFirst.self),
        BrokenStore("enumeration.order", BrokenEnumeration.SortsAsText.self),
        BrokenStore("enumeration.changes", BrokenEnumeration.ListsRemoved.self),
        BrokenStore("enumeration.place", BrokenEnumeration.ListsNeighbours.self),
        BrokenStore("enumeration.prefix", BrokenEnumeration.ComparesCharacters.self),
        BrokenStore("enumeration.after", BrokenEnumeration.RepeatsTheLast.self),
        BrokenStore("enumeration.limit", BrokenEnumeration.IgnoresLimit.self),
        BrokenStore("enumeration.stop", BrokenEnumeration.NeverStops.self),
        BrokenStore("enumeration.places", BrokenEnumeration.ListsEmptyPlaces.self),
        BrokenStore("enumeration.concurrent", BrokenEnumeration.ListsByIndex.self),
        BrokenStore("attributes.kept", BrokenAttributes.DropsAppVersion.self),
        BrokenStore("attributes.replaced", BrokenAttributes.MergesWithOld.self),
        BrokenStore("attributes.measured", BrokenAttributes.TellsSeconds.self),
        BrokenStore("attributes.absent", BrokenAttributes.InventsAttributes.self),
        BrokenStore("streaming.write", BrokenStreaming.LosesTheLastByte.self),
        BrokenStore("streaming.read", BrokenStreaming.SwapsPieces.self),
        BrokenStore("streaming.absent", BrokenStreaming.ReadsNoneAsEmpty.self),
        BrokenStore("streaming.attributes", BrokenStreaming.DropsAttributes.self),
        BrokenStore("streaming.pieces", BrokenStreaming.GivesOnePiece.self),
        BrokenStore("streaming.stop", BrokenStreaming.NeverStops.self),
        BrokenStore("streaming.given-up", BrokenStreaming.KeepsHalf.self),
        BrokenStore("streaming.unseen", BrokenStreaming.WritesInPlace.self),
        BrokenStore("streaming.one-value", BrokenStreaming.ReadsAnew.self),
        BrokenStore("batch.applies", BrokenBatches.FailsOnAbsent.self),
        BrokenStore("batch.order", BrokenBatches.FirstWins.self),
        BrokenStore("batch.many", BrokenBatches.CutsAt128.self),
        BrokenStore("batch.none", BrokenBatches.AppliesOneByOne.self),
        BrokenStore("batch.empty", BrokenBatches.RefusesEmpty.self),
        BrokenStore("batch.attributes", BrokenBatches.DropsAttributes.self),
        BrokenStore("watch.told", BrokenWatches.ForgetsRemoves.self),
        BrokenStore("watch.bulk", BrokenWatches.ForgetsBatches.self),
        BrokenStore("watch.names", BrokenWatches.CutsNames.self),
        BrokenStore("watch.prefix", BrokenWatches.IgnoresPrefix.self),
        BrokenStore("watch.end", BrokenWatches.NeverEnds.self),
        BrokenStore("transaction.own", BrokenTransactions.ReadsPast.self),
        BrokenStore("transaction.isolated", BrokenTransactions.ShowsItEarly.self),
        BrokenStore("transaction.commit", BrokenTransactions.LosesRemoves.self),
        BrokenStore("transaction.rollback", BrokenTransactions.CommitsAtRollback.self),
        BrokenStore("transaction.conflict", BrokenTransactions.LastCommitWins.self),
        BrokenStore("check.sound", BrokenChecks.ReportsHealth.self),
        BrokenStore("check.harmless", BrokenChecks.Repairs.self),
    ]
}
