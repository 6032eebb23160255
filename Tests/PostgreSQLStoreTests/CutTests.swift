import Foundation
import LocalDataAPI
import LocalDataHost
import TestSupport
import Testing

@Suite("Connections that are lost at any byte", .serialized)
struct CutTests {
    private enum Outcome { case done, notDone, unknown }

    /// The number of cuts: 2,000 with `LOCALDATA_TORTURE=1`.
    private static let count = TestRun.isTorture ? 2000 : 100

    @Test(
        "leave each set done, not done or unknown, and its value matches that, then and later",
        arguments: ["", "transaction"])
    func sets(_ pooler: String) throws {
        let server = try PostgreSQLServer.poolers[pooler]?.get() ?? PostgreSQLServer.shared.get()
        let proxy = try CuttingProxy(before: server.port)
        defer { proxy.end() }
        let direct = try OpenStore(PostgreSQLServer.shared.get().uri())
        try direct.set("first", "first")
        var generator = SeededGenerator(seed: TestRun.seed)
        let uri = "postgresql://localdata@127.0.0.1:\(proxy.port)/postgres?sslmode=disable"
        var outcomes: [(name: String, outcome: Outcome)] = []
        var store = try OpenStore(uri, schema: direct.schema, ["timeout": .number(0.8)])
        for index in 0..<Self.count {
            // Half of the cases use a new connection, the others an open one with prepared statements.
            let isOpen = Bool.random(using: &generator)
            if !isOpen {
                store.store.close()
                store = try OpenStore(uri, schema: direct.schema, ["timeout": .number(0.8)])
            } else {
                try Self.warm(store)
            }
            proxy.arm(
                CuttingProxy.Cut(
                    after: .random(in: 1...(isOpen ? 600 : 3000), using: &generator),
                    refusals: [0, 0, 0, 1, 1, 3, 3, 1000].randomElement(using: &generator) ?? 0,
                    lingers: [0, 0, 5, 100].randomElement(using: &generator) ?? 0))
            let name = "cut \(index)"
            var outcome = Outcome.done
            do { try store.set(name, name) } catch StorageError.timedOut { outcome = .unknown } catch {
                outcome = .notDone
            }
            proxy.arm(nil)
            let found = try direct.text(name)
            Self.expect(found, of: name, outcome)
            outcomes.append((name, outcome))
        }
        // Data in flight has arrived by now.
        usleep(500_000)
        for (name, outcome) in outcomes { Self.expect(try direct.text(name), of: name, outcome) }
        let notDone = outcomes.count { $0.outcome == .notDone }
        let unknown = outcomes.count { $0.outcome == .unknown }
        print("cuts \(pooler): \(outcomes.count - notDone - unknown) done, \(notDone) not done, \(unknown) unknown")
        #expect(try direct.findings() == [])
    }

    /// Makes a call without a cut. On a busy machine a call may take longer than these stores' time limit.
    private static func warm(_ store: OpenStore) throws {
        for _ in 0..<50 {
            do { return try store.set("before", "value") } catch StorageError.timedOut {} catch StorageError
                .storeUnavailable
            {}
        }
        try store.set("before", "value")
    }

    private static func expect(_ found: String?, of name: String, _ outcome: Outcome) {
        switch outcome {
        case .done: #expect(found == name, "\(name) was done")
        case .notDone: #expect(found == nil, "\(name) was not done")
        case .unknown: #expect(found == nil || found == name, "\(name) is unknown")
        }
    }
}
