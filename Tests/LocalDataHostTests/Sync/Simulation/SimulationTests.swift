import Foundation
import Testing

@testable import LocalDataHost

/// Devices converge, whatever happens to them, their clocks and their transport: all have the same values, no value
/// that was set is lost, and no removed value comes back.
struct SimulationTests {
    @Test("devices converge", arguments: SimulatedLife.wanted)
    func converge(_ life: SimulatedLife) {
        var failed = 0
        for seed in 0..<UInt64(life.schedules) {
            let simulation = Simulation(seed, life.hazards)
            let violations = simulation.run()
            guard !violations.isEmpty else { continue }
            failed += 1
            guard failed <= 2 else { continue }
            let story = (violations + simulation.log).joined(separator: "\n")
            Issue.record("seed \(seed): \(story)")
        }
        #expect(failed == 0, "\(failed) of \(life.schedules) schedules failed")
    }
}

/// Proves the simulation: it finds the typical faults of such engines.
struct SyncFaultTests {
    @Test("a fault of the engine is found", arguments: SyncFault.allCases)
    func find(_ fault: SyncFault) {
        let found = fault.seeds.contains { !Simulation($0, fault.life.hazards, fault).run().isEmpty }
        #expect(found, "\(fault.seeds.count) schedules do not find it")
    }
}
