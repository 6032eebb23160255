import Foundation
import Testing

@testable import LocalDataHost

/// Devices converge, whatever happens to them, to their clocks and to what carries their records: all have the same
/// values, nothing that was set is lost, and nothing that was removed comes back.
struct SimulationTests {
    @Test("devices converge", arguments: SimulatedLife.allCases)
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

/// What a simulation is worth: it finds the faults that engines of this kind have.
struct SyncFaultTests {
    @Test("a fault of the engine is found", arguments: SyncFault.allCases)
    func find(_ fault: SyncFault) {
        let found = fault.seeds.contains { !Simulation($0, fault.life.hazards, fault).run().isEmpty }
        #expect(found, "\(fault.seeds.count) schedules do not find it")
    }
}
