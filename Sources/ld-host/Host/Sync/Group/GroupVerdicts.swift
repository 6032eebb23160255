internal import HostGround
internal import LocalDataAPI

/// Decides which entries of a graph count.
///
/// Rules, where an entry is *before* another if the other's author knew it, and *concurrent* to it if neither knew the
/// other:
///
/// 1. The genesis is valid.
/// 2. The *standing* of a device at an entry is its last valid join (or the genesis) before that entry, by the order of
///    ``GroupGraph/order``, unless a valid *forget* of the device is before the entry and not before that join. The
///    earlier the join in the order, the more *senior* the device.
/// 3. An entry of an author without standing is void, except a join.
/// 4. *A removal is final.* What a device does, and a join under an invite of that device, is void if a valid *remove*
///    of the device is before it. If one is concurrent to it, it is void unless it is *witnessed*: a third device had
///    taken it in before it knew of the removal. That is, a valid entry of that device is after it and not after the
///    removal, and the device had validly joined before the removal, or by an invite of another such device. So nobody
///    is a witness who joined by what is in question, and a removed device that makes entries with an old copy of the
///    log finds no witness any more.
/// 5. When two devices remove each other, and neither knew of it, one of the removals beats the other: the one with a
///    witness; if both or none have one, the one that leaves out no earlier entry of its own author that the other's
///    author knew; or else that of the more senior author.
/// 6. A removal *with the recovery code* is valid. It makes void all that the device does, and all joins under its
///    invites, that are not before it, witnessed or not. Nothing makes it void but another one with the code, which is
///    before it, or concurrent to it and the first in the order.
/// 7. A *join* is *taken in* by a valid entry that is after it, and whose author, another device, has its standing by a
///    join before the invite. A join is void if its invite is void; if the device has standing at it, or was removed
///    before it; if another valid join under the same invite comes first: the one that is taken in by an entry that is
///    not after the other one, and if both or none are, the first in the order; or if a valid entry ended the invite
///    and is not after the join. A *remove* ends the invites that its author knew; a *rekey* those that it names,
///    unless the join is taken in by an entry that is not after the rekey. So nobody who has seen a code can take the
///    place of the device that it was for, and a member that learns late of a join does not undo it.
/// 8. A *remove* is void if its device has never joined before it, or was removed before it; a *forget* if its device
///    has no standing at it, or if a valid forget of its author by a more senior one is concurrent to it.
/// 9. A group has a member. If all of this leaves nobody, as when all leave at the same time, the valid forgets of the
///    device that joined first and was not removed are void, or else the valid removals of the device whose last
///    removal is the last in the order; then everything is decided again. A member does not count as one here if an
///    entry of that first device would make its join void by rule 7, were it valid. So nobody who joins by a code that
///    has ended undoes what ended it.
///
/// An entry is decided when all that it depends on is. Entries can depend on each other in a circle: a removed device
/// may remove the witnesses of its removal. Then the removals that are not decided are ranked: first those that can
/// have a witness against each removal of their author, as what gives the author standing can; then by the author's
/// seniority, then by the order. Of those that may void the first, or what gives its author standing, the last one is
/// void; and so on. So a removed device that is alone loses, since it has no witness. A join does not depend on entries
/// after it that are void, or whose author has no join before the invite: these cannot take it in.
///
/// All this depends on the set of entries alone, so devices with the same entries agree, in whatever order these came.
/// Nor does it depend on void entries, so devices need not keep them: nothing asks for an entry that is void, and in a
/// circle, nothing is decided but what is void. All that counts follows from that, also if what is void is not there.
/// (Void entries that are there, since others are after them, can be in circles of their own; see ``GroupLog``.)
struct GroupVerdicts {
    let graph: GroupGraph
    /// Numbers of entries in the order.
    let order: [Int]
    /// The place of each entry in the order, by number.
    let places: [Int]
    /// The entries after each one, by number.
    let followers: [NumberSet]
    private var verdicts: [Bool?]
    private var joins: [DeviceID: [Int]] = [:]
    private(set) var removals: [DeviceID: [Int]] = [:]
    private var forgets: [DeviceID: [Int]] = [:]
    private var joinsByInvite: [EntryID: [Int]] = [:]
    /// Entries that remove a device, and so end the invites before them.
    private var removing: [Int] = []
    /// Entries that end an invite by its name.
    private var endings: [EntryID: [Int]] = [:]
    /// Entries that rule 9 makes void.
    private(set) var pardoned: Set<Int> = []
    /// Whether entries depend on each other in a circle.
    private(set) var isDisputed = false
    let leftOut: GroupRule?

    init(of graph: GroupGraph, leavingOut rule: GroupRule? = nil) {
        (self.graph, leftOut) = (graph, rule)
        order = graph.order
        var places = [Int](repeating: 0, count: order.count)
        for (place, entry) in order.enumerated() { places[entry] = place }
        self.places = places
        followers = graph.followers
        verdicts = [Bool?](repeating: nil, count: order.count)
        for entry in order { register(entry) }
        decideAll()
        while let more = pardons() {
            pardoned.formUnion(more)
            verdicts = [Bool?](repeating: nil, count: order.count)
            decideAll()
        }
    }

    /// The entries that count, and all that they come after: every device keeps these.
    var lasting: NumberSet {
        graph.closure(of: order.reduce(into: NumberSet()) { if isValid($1) { $0.insert($1) } })
    }

    /// Whether the entry counts.
    func isValid(_ entry: Int) -> Bool { verdicts[entry] == true }

    /// The joins of a device, the genesis too, in the order.
    func joins(of device: DeviceID) -> [Int] { joins[device] ?? [] }

    /// The forgets of a device, in the order.
    func forgets(of device: DeviceID) -> [Int] { forgets[device] ?? [] }

    /// The joins under an invite, in the order.
    func joins(under invite: EntryID) -> [Int] { joinsByInvite[invite] ?? [] }

    /// The devices that have a valid join.
    var joined: [DeviceID] { joins.keys.filter { joins(of: $0).contains(where: isValid) } }

    /// The devices that are members after all entries.
    var members: [DeviceID] { joined.filter { removals(of: $0).isEmpty && standing(of: $0) != nil } }

    /// The valid removals of a device, in the order.
    func removals(of device: DeviceID) -> [Int] { (removals[device] ?? []).filter(isValid) }

    /// The join by which a device is a member after all entries, if it was not removed.
    func standing(of device: DeviceID) -> Int? {
        let valid = joins(of: device).filter(isValid)
        return valid.last { join in
            !(forgets[device] ?? []).contains { isValid($0) && !graph.comes($0, before: join) }
        }
    }

    /// Whether an invitation was ended.
    func isEnded(_ invite: Int) -> Bool { enders(of: invite).contains(where: isValid) }

    /// What ends an invite if it is valid.
    func enders(of invite: Int) -> [Int] {
        removing.filter { graph.comes(invite, before: $0) } + (endings[graph.entries[invite].id] ?? [])
    }

    /// Rule 9: the entries that are void so that the group has a member; `nil` if it has one, or if there are none.
    private func pardons() -> [Int]? {
        let staying = joined.filter { removals(of: $0).isEmpty }
        let first = staying.min { firstJoin(of: $0) < firstJoin(of: $1) }
        // Without that, who joins by an ended code of a forgotten device would leave nobody that could have ended it.
        guard members.allSatisfy({ member in first.map { isShutOut(member, by: $0) } ?? false }) else { return nil }
        let last = joined.max { lastRemoval(of: $0) < lastRemoval(of: $1) }
        let entries = first.map { forgets[$0] ?? [] } ?? last.map { removals[$0] ?? [] } ?? []
        let valid = entries.filter(isValid)
        return valid.isEmpty ? nil : valid
    }

    /// Whether a member's join would be void if what a forgotten device has said counted.
    private func isShutOut(_ member: DeviceID, by forgotten: DeviceID) -> Bool {
        guard standing(of: forgotten) == nil, let join = standing(of: member),
            case .join(let invite, _) = graph.entries[join].body, let invite = graph.number(of: invite)
        else { return false }
        return enders(of: invite).contains { ender in
            graph.authors[ender] == forgotten && !graph.comes(join, before: ender)
                && isEnded(join, under: invite, by: ender) == .yes
        }
    }

    /// The place of a device's first valid join.
    private func firstJoin(of device: DeviceID) -> Int {
        joins(of: device).first(where: isValid).map { places[$0] } ?? Int.max
    }

    /// The place of a device's last valid removal.
    private func lastRemoval(of device: DeviceID) -> Int { removals(of: device).last.map { places[$0] } ?? -1 }

    private mutating func register(_ number: Int) {
        let entry = graph.entries[number]
        if entry.profile != nil { joins[entry.author, default: []].append(number) }
        switch entry.body {
        case .join(let invite, _): joinsByInvite[invite, default: []].append(number)
        case .remove(let device, _, _):
            removals[device, default: []].append(number)
            removing.append(number)
        case .rekey(_, let renewal): for invite in renewal.ended { endings[invite, default: []].append(number) }
        case .forget(let device): forgets[device, default: []].append(number)
        case .genesis, .invite, .acknowledge: break
        }
    }
}

// MARK: - Deciding

extension GroupVerdicts {
    private mutating func decideAll() {
        while true {
            let undecided = order.filter { verdicts[$0] == nil }
            guard !undecided.isEmpty else { return }
            var decided = 0
            for entry in undecided {
                verdicts[entry] = judge(entry)
                if verdicts[entry] != nil { decided += 1 }
            }
            guard decided == 0 else { continue }
            isDisputed = true
            if let last = leastEntitled(of: undecided.filter { verdicts[$0] == nil }) { verdicts[last] = false }
        }
    }

    /// The entry of a circle that is void: of the removal with the most right, the threat with the least.
    private func leastEntitled(of undecided: [Int]) -> Int? {
        let attacks = undecided.filter { graph.entries[$0].takesStanding }
        let ranks = Dictionary(uniqueKeysWithValues: attacks.map { ($0, rank($0)) })
        func isLess(_ left: Int, _ right: Int) -> Bool {
            guard let left = ranks[left], let right = ranks[right] else { return false }
            return left < right
        }
        let contested = attacks.filter { isVoid($0, by: graph.authors[$0]) == .open }
        let threats = contested.min(by: isLess).map { self.threats(to: $0) } ?? []
        return threats.max(by: isLess) ?? contested.max(by: isLess) ?? undecided.max { places[$0] < places[$1] }
    }

    /// What counts in a circle: whether an entry can have a witness, the author's seniority, then the place.
    private func rank(_ entry: Int) -> (Int, Int, Int) {
        let doubt = leftOut != .witnessedComesFirst && mayStand(entry) ? 0 : 1
        guard case .member(let join) = standing(of: graph.authors[entry], at: entry) else {
            return (doubt, Int.max, places[entry])
        }
        return (doubt, places[join], places[entry])
    }

    /// Whether an entry is valid; `nil` if that depends on entries that are not decided yet.
    private func judge(_ number: Int) -> Bool? {
        guard !pardoned.contains(number) else { return false }
        let entry = graph.entries[number]
        let isVoid: Answer =
            switch entry.body {
            case .genesis: .no
            case .join(let invite, _): isJoinVoid(number, by: entry.author, under: invite)
            case .invite, .rekey, .acknowledge: isVoid(number, by: entry.author)
            case .remove(_, _, withCode: true): isBeatenWithCode(number, by: entry.author)
            case .remove(let device, _, _):
                isVoid(number, by: entry.author) || isNoTarget(device, ofRemoval: number)
            case .forget(let device):
                isVoid(number, by: entry.author, or: forgets[entry.author] ?? []) || lacksStanding(device, at: number)
            }
        return switch isVoid {
        case .yes: false
        case .no: true
        case .open: nil
        }
    }

    /// Rules 3 and 4; of the other entries, only concurrent ones of more senior devices count.
    private func isVoid(_ number: Int, by author: DeviceID, or others: [Int] = []) -> Answer {
        let isEnded = isEnded(number, byRemovalOf: author)
        if isEnded == .yes { return .yes }
        switch standing(of: author, at: number) {
        case .none: return .yes
        case .open: return .open
        case .member(let join):
            return Answer.any(others) { other in
                graph.areConcurrent(other, number) ? both(answer(other), isMoreSenior(other, than: join)) : .no
            } || isEnded
        }
    }

    /// Whether the author of an entry joined before another join.
    func isMoreSenior(_ entry: Int, than join: Int) -> Answer {
        switch standing(of: graph.authors[entry], at: entry) {
        case .none: .no
        case .open: .open
        case .member(let senior): places[senior] < places[join] ? .yes : .no
        }
    }

    /// Rule 8, for removals.
    private func isNoTarget(_ device: DeviceID, ofRemoval number: Int) -> Answer {
        let earlier = joins(of: device).filter { graph.comes($0, before: number) }
        return inverse(Answer.any(earlier, answer)) || wasRemoved(device, before: number)
    }

    func wasRemoved(_ device: DeviceID, before number: Int) -> Answer {
        Answer.any((removals[device] ?? []).filter { graph.comes($0, before: number) }, answer)
    }

    func lacksStanding(_ device: DeviceID, at number: Int) -> Answer {
        switch standing(of: device, at: number) {
        case .member: .no
        case .none: .yes
        case .open: .open
        }
    }

    /// Rule 2.
    func standing(of device: DeviceID, at number: Int) -> Standing {
        if case .genesis = graph.entries[number].body { return .member(number) }
        for join in joins(of: device).reversed() where graph.comes(join, before: number) {
            switch inverse(answer(join)) || isForgotten(device, since: join, at: number) {
            case .no: return .member(join)
            case .open: return .open
            case .yes: continue
            }
        }
        return .none
    }

    private func isForgotten(_ device: DeviceID, since join: Int, at number: Int) -> Answer {
        Answer.any(
            (forgets[device] ?? []).filter { graph.comes($0, before: number) && !graph.comes($0, before: join) }, answer
        )
    }

    func answer(_ entry: Int) -> Answer { verdicts[entry].map { $0 ? .yes : .no } ?? .open }
}
