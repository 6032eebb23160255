import FoundationEssentials
import Glibc
import TestSupport
import Testing

@Suite("A device that its transport refuses for a while")
struct RefusedDeviceTests {
    /// A server that requires a password, which each device has in a file.
    private struct Guarded: Carrier {
        let server: NATSServer
        var folders: [String] { [server.folder] }

        func connect(_ home: Home, number: Int) throws {
            try setPassword("right", home)
            for (name, value) in [
                "servers": server.url, "user": "ann", "passwordFile": Self.file(home), "timeout": "5",
            ] {
                try home.done("config", "set", "sync.options.\(name)", value)
            }
            try home.done("config", "set", "sync.transport", "nats")
        }

        func setPassword(_ password: String, _ home: Home) throws {
            try Data(password.utf8).write(to: URL(filePath: Self.file(home)))
            #expect(chmod(Self.file(home), 0o600) == 0)
        }

        func disturb(round: Int, _ random: inout SeededGenerator) throws {}

        private static func file(_ home: Home) -> String { "\(home.path)/password" }
    }

    @Test("syncs again once it has the right password again")
    func refused() throws {
        let supervisor = try Supervisor()
        let carrier = Guarded(server: try NATSServer(.current, "authorization { user: ann, password: right }"))
        let device = try SyncedDevice(0, CampaignKeys(shared: 2, single: 0), over: carrier, supervisor)
        try device.home.done("sync", "init", "--name", "desk")
        try device.startSyncing()
        func set(_ number: Int) throws {
            try device.home.done("set", "userDefaults/\(CampaignKeys.name(number))", "0.1 ")
        }
        func isPublished(within limit: Duration) throws -> Bool {
            let start = ContinuousClock.now
            while ContinuousClock.now - start < limit { if try device.status().pending == 0 { return true } }
            return false
        }
        try set(0)
        #expect(try isPublished(within: .seconds(30)))
        try carrier.setPassword("wrong", device.home)
        try carrier.server.kill()
        try carrier.server.start()
        try set(1)
        #expect(try !isPublished(within: .seconds(3)))
        try carrier.setPassword("right", device.home)
        #expect(try isPublished(within: .seconds(60)))
        try device.stopSyncing()
    }
}
