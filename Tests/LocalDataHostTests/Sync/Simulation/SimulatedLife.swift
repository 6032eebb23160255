import Foundation
import TestSupport

/// The events in the life of a simulated group.
enum SimulatedLife: String, CaseIterable, Sendable {
    case quiet, faulty, wiped, restored, joined, removed, everything, crowded, disturbed, cautious, brittle, aged,
        merging, hostile, defiant, sealed, regrouped, shelved, rewound

    /// Those that `LOCALDATA_LIVES` lists, separated by commas, or all.
    static var wanted: [SimulatedLife] { allCases.filter { TestRun.isWanted($0.rawValue, in: "LOCALDATA_LIVES") } }

    var hazards: Simulation.Hazards {
        var hazards = Simulation.Hazards()
        switch self {
        case .quiet: (hazards.failures, hazards.kills, hazards.intrusions, hazards.skews) = (0, 0, 0, false)
        case .faulty: break
        case .wiped: hazards.wipes = 3
        case .restored: hazards.restores = 10
        case .rewound: (hazards.rewinds, hazards.joins, hazards.steps, hazards.rounds) = (10, 4, 120, 8)
        case .joined: hazards.joins = 8
        case .shelved: (hazards.storesBack, hazards.steps, hazards.rounds) = (8, 120, 4)
        case .removed: (hazards.removals, hazards.devices) = (3, 5)
        case .everything:
            (hazards.wipes, hazards.restores, hazards.joins, hazards.removals) = (2, 4, 6, 3)
            (hazards.devices, hazards.steps, hazards.keys) = (4, 120, 6)
        case .crowded: (hazards.devices, hazards.keys, hazards.steps) = (5, 30, 200)
        case .disturbed: hazards.intrusions = 40
        case .cautious:
            (hazards.consents, hazards.removedValues, hazards.keys, hazards.steps) = (1, 60, 10, 120)
        case .brittle: (hazards.kills, hazards.steps) = (60, 120)
        case .merging:
            (hazards.merges, hazards.removedValues, hazards.wipes, hazards.joins, hazards.rounds) = (true, 0, 1, 3, 3)
        case .hostile: (hazards.hostility, hazards.steps, hazards.rounds) = (15, 120, 6)
        case .defiant:
            (hazards.hostility, hazards.removals, hazards.defiance) = (10, 3, 30)
            (hazards.devices, hazards.steps, hazards.rounds) = (5, 120, 6)
        case .sealed: (hazards.isSealed, hazards.hostility, hazards.steps, hazards.rounds) = (true, 15, 80, 6)
        case .regrouped:
            (hazards.isSealed, hazards.hostility, hazards.removals, hazards.defiance) = (true, 10, 4, 30)
            (hazards.joins, hazards.steps, hazards.rounds) = (6, 80, 6)
        case .aged: (hazards.restores, hazards.steps, hazards.rounds) = (4, 200, 5)
        }
        return hazards
    }

    /// The number of schedules to run: 1,500 in all, and a hundred times as many with `LOCALDATA_TORTURE=1`.
    var schedules: Int {
        let count =
            switch self {
            case .quiet: 100
            case .faulty: 200
            case .wiped, .restored, .joined, .shelved: 150
            case .removed: 120
            case .everything: 110
            case .crowded: 20
            case .disturbed, .cautious, .brittle, .aged, .merging: 30
            case .hostile, .rewound: 60
            case .defiant, .regrouped: 30
            case .sealed: 20
            }
        return getenv("LOCALDATA_TORTURE") == nil ? count : count * 100
    }
}

extension Simulation {
    /// What happens in a schedule, and how often.
    struct Hazards {
        var devices = 3
        var keys = 4
        var steps = 60
        /// Percentages.
        var failures = 5
        var kills = 10
        var wipes = 0
        /// The percentage of steps in which the network is saved, or goes back to a saved state.
        var rewinds = 0
        var restores = 0
        /// The percentage of steps in which one store of a device goes back to an earlier state, or serves again.
        var storesBack = 0
        /// The percentage of steps after which all devices exchange everything.
        var rounds = 0
        var joins = 0
        var removals = 0
        var skews = true
        var intrusions = 2
        /// The percentage of a person's changes that remove an existing value.
        var removedValues = 35
        /// Whether values are sets of numbers, to which a person adds, and which merge.
        var merges = false
        /// The percentage of calls in which the network is hostile.
        var hostility = 0
        /// The percentage of steps in which a removed device publishes, once all members know of the removal.
        var defiance = 0
        /// Whether the group has real keys, a real log and real seals.
        var isSealed = false
        /// The number of values that a pull may remove without consent; `nil` for the engine's default.
        var consents: Int?
    }
}
