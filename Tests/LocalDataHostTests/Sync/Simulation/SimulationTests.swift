import Foundation
import LocalDataAPI
import TestSupport
import Testing

@testable import HostGround
@testable import HostPlugins
@testable import LocalDataHost

/// Devices converge, whatever happens to them, their clocks and their transport: all have the same values, no value
/// that was set is lost, and no removed value comes back.
///
/// A simulation computes for a long time, so it runs on a thread of its own: on one of Swift's, it would block the
/// tests that run beside it.
struct SimulationTests {
    @Test("devices converge", arguments: SimulatedLife.wanted)
    func converge(_ life: SimulatedLife) async throws {
        let stories = try await onIOThread { () throws(StorageError) in Self.failures(in: life) }
        for story in stories.prefix(2) { Issue.record("\(story)") }
        let failed = stories.count
        #expect(failed == 0, "of \(life.schedules) schedules")
    }

    @Test(
        "schedules that have found a fault pass",
        arguments: [
            (SimulatedLife.shelved, UInt64(6810)), (.shelved, 8836), (.aged, 2531), (.rewound, 1707), (.rewound, 3642),
        ])
    func once(_ life: SimulatedLife, _ seed: UInt64) async throws {
        let violations = try await onIOThread { () throws(StorageError) in
            let simulation = Simulation(seed, life.hazards)
            defer { simulation.stop() }
            return simulation.run()
        }
        #expect(violations == [])
    }

    /// The stories of the schedules that failed.
    private static func failures(in life: SimulatedLife) -> [String] {
        let first = (TestRun.seed - 1) * 1_000_000
        return (first..<first + UInt64(life.schedules)).compactMap { seed in
            let simulation = Simulation(seed, life.hazards)
            defer { simulation.stop() }
            let violations = simulation.run()
            guard !violations.isEmpty else { return nil }
            return (["seed \(seed):"] + violations + simulation.log).joined(separator: "\n")
        }
    }
}

/// Proves the simulation: it finds the typical faults of such engines.
struct SyncFaultTests {
    @Test("a fault of the engine is found", arguments: SyncFault.allCases)
    func find(_ fault: SyncFault) async throws {
        let found = try await onIOThread { () throws(StorageError) in
            fault.seeds.contains { !Simulation($0, fault.life.hazards, fault).run().isEmpty }
        }
        #expect(found, "\(fault.seeds.count) schedules do not find it")
    }
}
