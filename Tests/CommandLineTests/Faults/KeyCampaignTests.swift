import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// One operation on sealed values or keys, disturbed at every one of its calls that change data, state or
/// configuration. All points with `LOCALDATA_TORTURE=1`; otherwise a random part of them, the same for the same
/// `LOCALDATA_SEED`.
@Suite("Sealed values and keys under faults", .serialized)
struct KeyCampaignTests {
    /// A number of points of one operation that take about 2 s.
    private static let sample = 2

    @Test(
        "a fault at any call leaves every value readable and one key active, and the operation can be done again",
        arguments: KeyOperation.all)
    func campaign(_ operation: KeyOperation) throws {
        let bench = try KeyFaultBench(operation)
        try FaultCampaign(operation: operation, sample: Self.sample)
            .run(fewest: 2, in: { bench.disturbed }) { run, what in try check(bench, run, what) }
    }

    private func check(_ bench: KeyFaultBench, _ run: DisturbedHome.Run, _ what: String) throws {
        let ending = run.ending
        if !run.mode.kills {
            #expect(ending.status == 0 || ending.errors.hasPrefix("ld-host: error: "), "no message; \(what)")
        }
        let isDone = try state(bench, what)
        #expect(isDone || ending.status != 0, "success without effect; \(what)")
        // Repeat the command, as the next caller would.
        let again = try bench.disturbed.run()
        let isGone = isDone && again.status == 1 && bench.operation.takesAway
        #expect(again.status == 0 || isGone, "cannot be done again: \(again.errors); \(what)")
        #expect(try state(bench, "afterwards; \(what)"), "not done by the next; \(what)")
        #expect(try bench.debris() == [], "\(what)")
        if case .allUnderActiveKey = bench.operation.effect { try retire(bench, what) }
    }

    /// Checks the conditions that must hold at every instant, and returns whether the operation is complete.
    private func state(_ bench: KeyFaultBench, _ what: String) throws -> Bool {
        let stored = try bench.home.stored()
        var expected = bench.home.values
        var isDone = true
        if case .value(let address, let value) = bench.operation.effect {
            isDone = stored[address] == value
            expected[address] = isDone ? value : expected[address]
        }
        #expect(stored.keys.sorted() == expected.keys.sorted(), "\(what)")
        for (address, value) in expected { #expect(stored[address] == value, "\(address) is another one; \(what)") }
        for ring in [nil, KeyHome.store] {
            let keys = try bench.home.keys(of: ring)
            let active = keys.count { $0.state == "active" }
            let mayBeEmpty = bench.operation.isHomeEmpty && !stored.keys.contains { $0.hasPrefix("encrypted") }
            #expect(active == 1 || (mayBeEmpty && keys.isEmpty), "\(active) active keys; \(what)")
        }
        return try isDone && areKeysDone(bench)
    }

    private func areKeysDone(_ bench: KeyFaultBench) throws -> Bool {
        let store = bench.operation.store
        let keys = try bench.home.keys(of: store)
        let before = bench.keysBefore
        switch bench.operation.effect {
        case .value: return true
        case .newKey: return keys.count > before.count
        case .newActiveKey:
            return keys.first { $0.state == "active" }?.id != before.first { $0.state == "active" }?.id
        case .spareKey(let state): return keys.first { $0.id == bench.home.spare }?.state == state
        case .allUnderActiveKey:
            return try bench.home.keys(of: store, counting: true).allSatisfy { $0.state == "active" || $0.values == 0 }
        }
    }

    /// Then the old keys can be retired, and no value is lost with them.
    private func retire(_ bench: KeyFaultBench, _ what: String) throws {
        for key in try bench.home.keys(of: bench.operation.store) where key.state != "active" {
            let store = bench.operation.store.map { ["--store", $0] } ?? []
            let ending = try bench.home.home.run(BuiltProducts.host, ["keys", "retire", key.id] + store)
            #expect(ending.status == 0, "\(key.id) cannot be retired: \(ending.errors); \(what)")
        }
        #expect(try bench.home.keys(of: bench.operation.store).count == 1)
        #expect(try bench.home.stored() == bench.home.values, "lost with the old keys; \(what)")
    }

    @Test("the injector is at work, on all folders that hold values and keys")
    func injectorWorks() throws {
        let operation = try #require(KeyOperation.all.last)
        let first = try KeyFaultBench(operation)
        let calls = try first.disturbed.calls()
        for folder in ["/data/", "/state/", "/config/"] {
            #expect(calls.contains { $0.path.contains(folder) }, "\(calls)")
        }
        let number = try #require(calls.firstIndex { $0.name == "fsync" }) + 1
        let run = try first.disturbed.run(FaultPoint(mode: .ioError, number: number))
        #expect(run.ending.status == 2)
        #expect(run.hit.result == "-EIO")
    }
}

extension KeyOperation {
    /// Whether the operation removes something, so that repeating it finds nothing.
    fileprivate var takesAway: Bool {
        switch effect {
        case .value(_, nil), .spareKey(nil): true
        default: false
        }
    }
}
