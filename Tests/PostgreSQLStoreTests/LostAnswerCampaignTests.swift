import Foundation
import LocalDataAPI
import LocalDataHost
import TestSupport
import Testing

@Suite("A proxy loses one answer of a hundred", .serialized)
struct LostAnswerCampaignTests {
    /// The calls of all clients: 100,000 with `LOCALDATA_TORTURE=1`.
    private static let calls = TestRun.isTorture ? 100_000 : 4000
    private static let writers = 6

    @Test(
        "no value comes back over a later acknowledged one, no batch is torn, and no count is lost",
        arguments: ["", "transaction"])
    func campaign(_ pooler: String) throws {
        // A sample is enough behind a pooler, which only fences off in another way.
        let calls = pooler.isEmpty ? Self.calls : Self.calls / 10
        let server = try PostgreSQLServer.poolers[pooler]?.get() ?? PostgreSQLServer.shared.get()
        let proxy = try CuttingProxy(before: server.port)
        defer { proxy.end() }
        let direct = try OpenStore(PostgreSQLServer.shared.get().uri())
        for count in ["count 0", "count 1"] { try direct.set(count, "0") }
        let uri = "postgresql://localdata@127.0.0.1:\(proxy.port)/postgres?sslmode=disable"
        let history = History(calls: calls)
        proxy.loseAnswers(perThousand: 10)
        // Writers, readers, conditional writers and counters: each has its own connections from begin to end.
        onThreads(Self.writers + 6) { thread in
            do {
                let client = Client(
                    store: try OpenStore(uri, schema: direct.schema, ["timeout": .number(30)]), thread: thread,
                    history: history)
                switch thread {
                case 0..<Self.writers: try client.write()
                case Self.writers..<Self.writers + 2: try client.read()
                case Self.writers + 2..<Self.writers + 4: try client.replace()
                default: try client.count("count \(thread % 2)")
                }
            } catch { history.note("client \(thread): \(error)") }
        }
        proxy.loseAnswers(perThousand: 0)
        #expect(history.failures == [])
        #expect(history.returned() == [], "values that came back over later acknowledged ones")
        for name in ["count 0", "count 1"] {
            let (counted, doubtful) = history.counts(name)
            let found = try #require(try direct.text(name).flatMap { Int($0) })
            #expect(counted > 0 && (counted...counted + doubtful).contains(found), "\(name): \(found), not \(counted)")
        }
        #expect(proxy.losses > calls / 200)
        print("\(pooler): \(history.summary), \(proxy.losses) answers lost")
        #expect(try direct.findings() == [])
    }
}

extension Array {
    /// The first index whose element fulfils a condition that all later elements fulfil, too.
    func partitioningIndex(_ isAfter: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isAfter(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
