import Foundation
import Testing

@testable import LocalDataHost

/// What a simulated group goes through.
enum SimulatedLife: String, CaseIterable, Sendable {
    case quiet, faulty, wiped, restored, joined, removed, everything, crowded

    var hazards: Simulation.Hazards {
        var hazards = Simulation.Hazards()
        switch self {
        case .quiet: (hazards.failures, hazards.kills, hazards.intrusions, hazards.skews) = (0, 0, 0, false)
        case .faulty: break
        case .wiped: hazards.wipes = 3
        case .restored: hazards.restores = 10
        case .joined: hazards.joins = 8
        case .removed: (hazards.removals, hazards.devices) = (3, 5)
        case .everything:
            (hazards.wipes, hazards.restores, hazards.joins, hazards.removals) = (2, 4, 6, 3)
            (hazards.devices, hazards.steps, hazards.keys) = (4, 120, 6)
        case .crowded: (hazards.devices, hazards.keys, hazards.steps) = (5, 30, 200)
        }
        return hazards
    }

    /// How many schedules run: together 1,000, in torture 100,000.
    var schedules: Int {
        let count =
            switch self {
            case .quiet: 100
            case .faulty: 200
            case .wiped, .restored, .joined: 150
            case .removed: 120
            case .everything: 110
            case .crowded: 20
            }
        return getenv("LOCALDATA_TORTURE") == nil ? count : count * 100
    }
}

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
