import FoundationEssentials
import LocalDataAPI
import Synchronization
import TestSupport

@testable import HostSync
@testable import LocalDataHost

/// A schedule of what the members of a group do and what the thieves of one or two of its devices do, which a seed
/// determines, and the conditions that must hold after each step.
///
/// The thieves know all keys of their devices, and have a copy of the log from before they were removed. With it they
/// invite devices, remove members, begin epochs, name the parents and times that they like, confirm each other, and
/// repeat what was published. What they make goes to the members in any order, or not at all.
///
/// The conditions hold for a member from the moment when it knows of the removals: no thief is a member, no member is
/// lost, no thief can read what the member publishes, and the member can always begin an epoch. At the end, all members
/// have the same state, invite a device and remove one.
struct ThiefSimulation {
    /// How the devices are removed, and what the thieves can do before members know of that.
    enum Kind: CaseIterable {
        /// By a member that is longer in the group than a single thief.
        case bySenior
        /// By any member, and another one that the thief knows learns of it before the thieves come.
        case witnessed
        /// With the recovery code. The thieves also reach members that do not know of it, and hold back the rest.
        case withCode
        /// Two, one after the other. The second one, while it is a member, confirms what the first one does, although
        /// it knows that this one was removed.
        case oneByOne
    }

    private let rule: GroupRule?
    private let kind: Kind
    var random: SeededGenerator
    private var members: [TestDevice]
    var thieves: [TestDevice] = []
    /// The members that must stay, the devices that can be members, and those that ever could and are no thieves'.
    private var staying: Set<DeviceID> = []
    private var invited: Set<DeviceID> = []
    private var honest: Set<DeviceID> = []
    private let code: RecoveryCode?
    /// What members and what thieves have published.
    var published: [Data] = []
    var loot: [Data] = []
    var known: Set<Data> = []
    /// What each member has taken in.
    private var seen: [DeviceID: Set<Data>] = [:]
    /// The entries that remove the thieves' devices.
    private var removals: [EntryID] = []
    /// The epochs of what members have published since they knew.
    private var epochs: Set<EpochID> = []
    private var hasRemovedMore = false
    /// The code of an invitation that a thief has made while it was a member.
    var keptCode: String?
    private var clock: UInt64 = 10_000
    private(set) var violations: [String] = []
    private(set) var story: [String] = []

    /// - Parameter rule: A rule that the members leave out.
    init(_ seed: UInt64, in bench: ThiefBench, leavingOut rule: GroupRule? = nil) throws {
        bench.begin(seed)
        random = SeededGenerator(seed: seed)
        self.rule = rule
        kind = Kind.allCases.randomElement(using: &random) ?? .withCode
        let fewest = kind == .witnessed ? 3 : kind == .oneByOne ? 4 : 2
        let groups = Bool.random(using: &random) ? bench.groups : bench.chains
        members = groups[Int.random(in: fewest...5, using: &random) - 2]
        code = members[0].code
        // Against two that confirm each other, only the code helps.
        let isPair = kind == .withCode && members.count > fewest && Bool.random(using: &random)
        for _ in 0..<(isPair || kind == .oneByOne ? 2 : 1) {
            // The first device cannot be removed by one that is longer in the group.
            let isJunior = kind == .bySenior || kind == .oneByOne
            let places = isJunior ? 1..<members.count : members.indices
            thieves.append(members.remove(at: Int.random(in: places, using: &random)))
        }
        for index in members.indices { members[index].log.leavesOut = rule }
        for member in members { welcome(member.id) }
    }

    /// - Returns: The violations.
    mutating func run() throws -> [String] {
        try prepare()
        if chance(40) { try inviteInTime() }
        if kind != .oneByOne {
            for _ in 0..<Int.random(in: 0...2, using: &random) { try steal() }
        }
        if kind == .oneByOne { try removeOneByOne() } else { try removeThieves() }
        for _ in 0..<Int.random(in: 2...6, using: &random) {
            // Two that confirm each other are a case for the code.
            if kind != .oneByOne { try steal() }
            try sync(Int.random(in: members.indices, using: &random))
        }
        try settle("at the end")
        guard violations.isEmpty else { return violations }
        if chance(35) { try inviteAndRemove() }
        try readAll()
        return violations
    }

    private mutating func welcome(_ device: DeviceID) {
        staying.insert(device)
        invited.insert(device)
        honest.insert(device)
    }
    mutating func note(_ text: String) { story.append(text) }
    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
    private mutating func some(_ percent: Int, of all: [Data]) -> [Data] {
        var random = random
        defer { self.random = random }
        return all.filter { _ in Int.random(in: 0..<100, using: &random) < percent }
    }
    func name(_ id: DeviceID) -> String { String(id.text.prefix(4)) }
    mutating func tick() -> UInt64 {
        clock += 10
        return clock
    }
}

// MARK: - Members

extension ThiefSimulation {
    /// What members do that the thieves do not know of.
    private mutating func prepare() throws {
        publish()
        guard chance(30) else { return }
        let host = Int.random(in: members.indices, using: &random)
        var new = try members[host].admit("new", at: tick())
        new.log.leavesOut = rule
        welcome(new.id)
        note("\(name(members[host].id)) invites \(name(new.id))")
        members.append(new)
        try exchange(&members)
        for index in members.indices { try members[index].answer(at: tick()) }
        try exchange(&members)
        publish()
    }

    private mutating func removeThieves() throws {
        let age = Dictionary(
            uniqueKeysWithValues: members[0].state.members.enumerated().map { ($1.id, $0) })
        let owners = members.indices.filter { index in
            kind != .bySenior || age[members[index].id]! < age[thieves[0].id]!
        }
        guard let owner = owners.randomElement(using: &random) else { return }
        for thief in thieves {
            // With the code, different members remove them, and do not know of each other.
            let remover = kind == .withCode ? owners.randomElement(using: &random) ?? owner : owner
            guard members[remover].state.member(thief.id) != nil else { continue }
            let usesCode = kind == .withCode
            try members[remover].remove(thief.id, at: tick(), with: usesCode ? code : nil)
            note("\(name(members[remover].id)) removes \(name(thief.id))\(usesCode ? " with the code" : "")")
            if let entry = members[remover].log.graph.entries.last { removals.append(entry.id) }
        }
        publish()
        // One that the thief knows: whom the remover itself has invited since is no witness for it.
        let others = members.indices.filter { index in
            index != owner && thieves[0].log.graph.entries.contains { $0.author == members[index].id }
        }
        if kind == .witnessed, let other = others.randomElement(using: &random) {
            try sync(other)
            try sync(owner)
        }
    }

    /// A thief invites while it is a member, and another member than the one that removes it has taken that in and made
    /// an entry. Nobody has used the code; the thief keeps it.
    private mutating func inviteInTime() throws {
        guard let code = try? thieves[0].invite(at: tick()) else { return }
        guard let index = members.indices.dropFirst().randomElement(using: &random) else { return }
        try take(thieves[0].log.entries, index)
        try members[index].rekey(at: tick())
        publish(index)
        note("\(name(thieves[0].id)) invites, and \(name(members[index].id)) takes it in")
        keptCode = code
    }

    /// Joins with the code of an invitation that a thief has made in time.
    mutating func joinByKeptCode() throws {
        guard let code = keptCode, thieves.count < 6 else { return }
        keptCode = nil
        let entries = thieves[0].log.entries
        thieves.append(try TestDevice(joining: entries, by: code, "late helper", at: tick(), thieves[0].crypto))
    }

    /// One that is longer in the group removes the first thief. The second one learns of it, as a member, and confirms
    /// what the first one has done since; then it is removed, too.
    private mutating func removeOneByOne() throws {
        let owner = 0
        try remove(0, by: owner)
        try thieves[1].receive(members[owner])
        let helper = try thieves[0].admit("helper", at: tick())
        try thieves[0].receive(helper)
        thieves.append(helper)
        let heads = thieves[1].log.heads + thieves[0].log.heads
        thieves[1].log.add(contentsOf: thieves[0].log.entries)
        try thieves[1].force(.acknowledge, after: heads, at: tick())
        note("\(name(thieves[1].id)) confirms what \(name(thieves[0].id)) does")
        let made = thieves.prefix(2).flatMap(\.log.entries)
        loot += Set(made).filter { known.insert($0).inserted }.sorted { $0.lexicographicallyPrecedes($1) }
        for index in members.indices where chance(60) {
            try take((published + loot).shuffled(using: &random), index)
            try members[index].answer(at: tick())
            publish(index)
        }
        try remove(1, by: owner)
    }

    private mutating func remove(_ thief: Int, by remover: Int) throws {
        try members[remover].remove(thieves[thief].id, at: tick())
        note("\(name(members[remover].id)) removes \(name(thieves[thief].id))")
        if let entry = members[remover].log.graph.entries.last { removals.append(entry.id) }
        publish(remover)
    }

    private func knows(_ member: TestDevice) -> Bool {
        !removals.isEmpty && removals.allSatisfy { member.log.graph.number(of: $0) != nil }
    }

    /// A member reads, answers and publishes.
    private mutating func sync(_ index: Int) throws {
        var entries = published
        if knows(members[index]) || kind == .withCode, chance(80) { entries += some(80, of: loot) }
        if kind == .withCode, chance(50) { entries = some(70, of: entries) }
        entries.shuffle(using: &random)
        note("\(name(members[index].id)) takes \(entries.count) entries")
        try take(entries, index)
        if chance(20) { try restart(index) }
        try members[index].answer(at: tick())
        publish(index)
        check(members[index])
    }

    /// Takes in what is new, and sometimes some of it again.
    private mutating func take(_ entries: [Data], _ index: Int) throws {
        let id = members[index].id
        var new = entries.filter { seen[id, default: []].insert($0).inserted }
        if chance(10) { new += entries.prefix(3) }
        members[index].log.add(contentsOf: new)
        // Reads everything again, as the engine does.
        if members[index].log.lacksParents { members[index].log.add(contentsOf: entries) }
        try members[index].open()
    }

    /// Ends the member's process: the next one has what was kept.
    private mutating func restart(_ index: Int) throws {
        var log = GroupLog(of: members[index].keys, members[index].crypto)
        (log.owner, log.leavesOut) = (members[index].id, rule)
        log.add(contentsOf: members[index].log.entries)
        if log.state != members[index].state { violations.append("what a member keeps says something else") }
        members[index].log = log
    }

    private mutating func publish(_ index: Int? = nil) {
        for member in index.map({ [members[$0]] }) ?? members {
            published += member.log.identified.map(\.published).filter { known.insert($0).inserted }
        }
    }

    /// Whether all is as it must be for a member that knows.
    private mutating func check(_ member: TestDevice) {
        guard knows(member) else { return }
        let found = Set(member.state.members.map(\.id))
        let foreign = found.subtracting(invited)
        if !foreign.isEmpty { violations.append("\(foreign.map(name)) are members for \(name(member.id))") }
        let lost = staying.subtracting(found)
        if !lost.isEmpty { violations.append("\(lost.map(name)) are lost for \(name(member.id))") }
        guard foreign.isEmpty, lost.isEmpty else { return }
        if member.state.needsRekey || !member.hasCurrentKey {
            violations.append("\(name(member.id)) cannot begin an epoch")
        }
        epochs.insert(member.state.epoch.id)
        guard kind == .bySenior || kind == .witnessed else { return }
        // Otherwise a member that did not know can have confirmed them.
        for (id, _) in member.log.identified {
            guard let number = member.log.graph.number(of: id) else { continue }
            let entry = member.log.graph.entries[number]
            let precedes = removals.contains { removal in
                member.log.graph.number(of: removal).map { member.log.graph.comes(number, before: $0) } ?? false
            }
            if case .acknowledge = entry.body, !honest.contains(entry.author), !precedes {
                violations.append("\(name(member.id)) keeps what the thief \(name(entry.author)) has made")
                return
            }
        }
    }

    /// The entries of a member's log, and whether they count.
    func picture(of index: Int) -> [String] {
        let graph = members[index].log.graph
        let verdicts = GroupVerdicts(of: graph, leavingOut: rule)
        return graph.entries.enumerated().map { number, entry in
            let what: String =
                switch entry.body {
                case .remove(let device, _, let withCode): "remove \(name(device))\(withCode ? " with the code" : "")"
                case .forget(let device): "forget \(name(device))"
                case .join(let invite, _): "join under \(graph.number(of: invite) ?? -1)"
                default: "\(entry.body.kind)"
                }
            let parents = entry.parents.compactMap { graph.number(of: $0) }
            return "\(verdicts.isValid(number) ? " " : "x")\(number) \(name(entry.author)) \(what) after \(parents)"
        }
    }

    /// All members take in all that there is.
    private mutating func settle(_ when: String) throws {
        for _ in 0..<2 {
            for index in members.indices {
                try take((published + loot).shuffled(using: &random), index)
                try members[index].answer(at: tick())
                publish(index)
            }
        }
        for index in members.indices {
            try take((published + loot).shuffled(using: &random), index)
            check(members[index])
            if members[index].state != members[0].state { violations.append("members have different states \(when)") }
            if members[index].log.lacksParents { violations.append("a member lacks entries \(when)") }
        }
    }

    private mutating func inviteAndRemove() throws {
        let host = Int.random(in: members.indices, using: &random)
        do {
            let code = try members[host].invite(at: tick())
            publish()
            var new = try TestDevice(
                joining: (published + loot).shuffled(using: &random), by: code, "late", at: tick(),
                members[host].crypto)
            new.log.leavesOut = rule
            welcome(new.id)
            members.append(new)
        } catch { violations.append("no device can join: \(error)") }
        try settle("after a join")
        guard violations.isEmpty else { return }
        let gone = members.remove(at: Int.random(in: members.indices, using: &random))
        staying.remove(gone.id)
        invited.remove(gone.id)
        let index = Int.random(in: members.indices, using: &random)
        do { try members[index].remove(gone.id, at: tick()) } catch {
            violations.append("no device can be removed: \(error)")
        }
        publish()
        try settle("after a removal")
        thieves.append(gone)
        hasRemovedMore = true
    }

    /// The thieves read all that was published.
    private mutating func readAll() throws {
        let (log, last) = (members[0].log, members[0].state.epoch.id)
        for (index, thief) in thieves.enumerated() {
            let isLastRemoved = hasRemovedMore && index == thieves.count - 1
            let known = try thief.keys.opening(log, with: thief.device).knownEpochs
            if !known.isDisjoint(with: isLastRemoved ? [last] : epochs) {
                violations.append("\(name(thief.id)) can read what members publish")
            }
        }
    }
}
