import FoundationEssentials
import LocalDataAPI
import TestSupport

@testable import HostSync
@testable import LocalDataHost

/// What thieves do.
extension ThiefSimulation {
    /// What a thief does in its copy. What it has no right to there, it does not get.
    mutating func steal() throws {
        let actor = Int.random(in: thieves.indices, using: &random)
        let others = thieves[actor].state.members.map(\.id).filter { $0 != thieves[actor].id }
        let other = others.randomElement(using: &random)
        let time = Bool.random(using: &random) ? tick() : Bool.random(using: &random) ? 1 : .max >> 20
        if keptCode != nil, chance(50) { try? joinByKeptCode() }
        let choice = Int.random(in: 0..<12, using: &random)
        note("\(name(thieves[actor].id)) does \(choice) to \(other.map(name) ?? "nobody") at \(time)")
        switch choice {
        case 0, 1:
            if thieves.count < 6, let helper = try? thieves[actor].admit("helper", at: max(time, 2)) {
                thieves.append(helper)
                try? thieves[actor].receive(helper)
            }
        case 2, 3, 4: if let other { try? thieves[actor].remove(other, at: time) }
        case 5: if let other { try? thieves[actor].forget(other, at: time) }
        case 6: if chance(50) { try? thieves[actor].rekey(at: time) } else { try? endInvitations(actor, at: time) }
        case 7, 8: if let other { try? forge(actor, removing: other, at: time) }
        case 9:
            guard
                let join = thieves[actor].log.graph.entries.first(where: {
                    $0.author == thieves[actor].id && $0.profile != nil
                })?.id
            else { break }
            for _ in 0..<4 { try? thieves[actor].force(.acknowledge, after: [join], at: tick()) }
        default:
            for index in thieves.indices where index != actor {
                try? thieves[index].receive(thieves[actor])
                try? thieves[index].answer(at: time)
                _ = try? thieves[index].log.acknowledge(by: thieves[index].device, at: time)
            }
        }
        let made = (choice < 10 ? [thieves[actor]] : thieves).flatMap { $0.log.entries }
        loot += Set(made).filter { known.insert($0).inserted }.sorted { $0.lexicographicallyPrecedes($1) }
        // Also what others made, again.
        if chance(20), let old = published.randomElement(using: &random) { loot.append(old) }
    }

    /// Ends invitations as if the thief did not know who has used them.
    private mutating func endInvitations(_ actor: Int, at time: UInt64) throws {
        let thief = thieves[actor]
        let invites = thief.log.graph.entries.filter { if case .invite = $0.body { true } else { false } }
        let named = invites.shuffled(using: &random).prefix(Int.random(in: 1...3, using: &random)).map(\.id)
        let joins = thief.log.graph.entries.filter { $0.profile != nil && $0.author == thief.id }
        let renewal = GroupEntry.Renewal(continues: Bool.random(using: &random), ended: named)
        try thieves[actor].force(
            .rekey(thief.epochKeys(for: [thief.id]), renewal), after: joins.map(\.id) + named, at: time)
    }

    /// Removes a device as if the thief knew less than it did.
    private mutating func forge(_ actor: Int, removing other: DeviceID, at time: UInt64) throws {
        let thief = thieves[actor]
        let joins = thief.log.graph.entries.filter { $0.profile != nil && [other, thief.id].contains($0.author) }
        let more = thief.log.graph.entries.shuffled(using: &random).prefix(Int.random(in: 0...1, using: &random))
        let keys = try thief.epochKeys(for: thieves.map(\.id))
        try thieves[actor].force(.remove(other, keys), after: joins.map(\.id) + more.map(\.id), at: time)
    }
}
