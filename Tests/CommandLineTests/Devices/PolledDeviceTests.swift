import TestSupport
import Testing

@Suite("A device that syncs while others ask for its status")
struct PolledDeviceTests {
    @Test("reports that all is published, however often others ask", arguments: [CarrierKind.folder, .nats])
    func settles(over kind: CarrierKind) throws {
        let (folder, supervisor) = (try TemporaryFolder(), try Supervisor())
        let keys = CampaignKeys(shared: 8, single: 0)
        let carrier = try kind.make(for: 1, in: folder.path, supervisor)
        let device = try SyncedDevice(0, keys, over: carrier, supervisor)
        try device.home.done("sync", "init", "--name", "desk")
        try device.startSyncing()
        for number in 0..<keys.count {
            try device.home.done("set", "userDefaults/\(CampaignKeys.name(number))", "0.1 ")
        }
        var states: [Int] = []
        // Sooner than the next periodic look, which comes after a minute.
        let start = ContinuousClock.now
        repeat {
            states.append(try device.status().pending)
        } while states.last != 0 && ContinuousClock.now - start < .seconds(30)
        #expect(states.last == 0, "after \(states.count) calls: \(states.suffix(5))")
        try device.stopSyncing()
    }
}
