import TestSupport
import Testing

/// Three devices that sync, each with its own processes and data, over real carriers. With `LOCALDATA_TORTURE=1`, each
/// device makes 10,000 changes; otherwise a few hundred, drawn by `LOCALDATA_SEED`.
@Suite("Devices that sync while everything is killed", .serialized)
struct DevicesCampaignTests {
    private static let changes = TestRun.isTorture ? 10_000 : 300
    private static let keys =
        TestRun.isTorture ? CampaignKeys(shared: 300, single: 300) : CampaignKeys(shared: 60, single: 20)

    @Test(
        "they converge, lose nothing that was acknowledged, bring nothing back, and reveal nothing to the carrier",
        arguments: CarrierKind.allCases)
    func campaign(over kind: CarrierKind) throws {
        let campaign = try DevicesCampaign(
            of: 3, over: kind, keys: Self.keys, changes: Self.changes,
            seed: TestRun.seed &+ UInt64(kind.rawValue.utf8.count))
        try campaign.gather()
        try campaign.edit()
        let current = try campaign.settle()
        try campaign.checkSecrecy()
        try campaign.check(current)
    }
}
