import LocalDataAPI
import TestSupport
import Testing

@Suite("A primary with a synchronous standby", .serialized)
struct FailoverTests {
    /// 20 failovers with `LOCALDATA_TORTURE=1`.
    private static let rounds = TestRun.isTorture ? 20 : 2

    @Test("is killed while 16 clients in 4 processes write: they resume, and no acknowledged write is lost or torn")
    func failover() throws {
        let servers = try PrimaryAndStandby()
        let clients = try WritingClients(servers.uri)
        try clients.awaitProgress(after: [:])
        var longest = Duration.zero
        for round in 1...Self.rounds {
            try servers.awaitStandby()
            let start = ContinuousClock.now
            try servers.failOver(isLate: round.isMultiple(of: 2))
            let promoted = ContinuousClock.now
            let acknowledged = try clients.logs()
            try clients.awaitProgress(after: acknowledged, within: .seconds(30))
            longest = max(longest, ContinuousClock.now - promoted)
            try Self.check(clients, acknowledged, "round \(round)")
            print("failover \(round): promoted in \(promoted - start), resumed within \(longest)")
            try servers.restore()
            // The next round needs new writes, and from each client one that the new standby confirmed.
            try clients.awaitProgress(after: clients.logs())
        }
        clients.end()
        let logs = try clients.logs()
        try Self.check(clients, logs, "at the end")
        let sum = { (count: (WritingClients.Log) -> Int) in logs.values.reduce(0) { $0 + count($1) } }
        print("failovers: \(sum(\.count)) writes done, \(sum(\.unknown)) unknown, \(sum(\.failed.count)) failed")
    }

    @Test("that has lost its standby acknowledges nothing, and leaves no server process waiting")
    func noStandby() throws {
        let servers = try PrimaryAndStandby()
        let store = try OpenStore(servers.uri, ["timeout": .number(3)])
        try store.set("name", "old")
        try servers.standby.kill()
        for index in 0..<2 {
            // The store ends the server process to learn the outcome. Then the value is visible, although the standby
            // does not have it.
            #expect(throws: StorageError.timedOut) { try store.set("name", "new \(index)") }
        }
        try servers.awaitNoneWaiting()
        // When the standby returns, each change has either been made or not.
        try servers.standby.start()
        try servers.awaitSynchronous()
        try store.set("other", "value")
        try servers.failOver()
        #expect(try store.text("other") == "value")
        #expect(try ["old", "new 0", "new 1"].contains(store.text("name")))
    }

    /// Expects each acknowledged value or a later one of its name, whole, and none whose write failed.
    private static func check(
        _ clients: WritingClients, _ acknowledged: [WritingClients.Client: WritingClients.Log], _ time: String
    ) throws {
        let stored = try clients.stored()
        let later = try clients.logs()
        for client in clients.clients {
            let values = stored[client] ?? [:]
            let log = later[client] ?? WritingClients.Log()
            for (name, number) in acknowledged[client]?.byName ?? [:] {
                #expect(values[name] ?? -1 >= number, "\(time): write \(number) of \(client) to \(name) is lost")
            }
            for (name, number) in values {
                #expect(number >= 0, "\(time): the value of \(client) in \(name) is torn")
                #expect(number <= log.tried, "\(time): \(client) never wrote \(number)")
                #expect(!log.failed.contains(number), "\(time): write \(number) of \(client) had failed")
            }
        }
    }
}
