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
/// 4. An entry is void if a valid *remove* of its author is before it, or if one is concurrent to it whose author is
///    more senior than its own. So a senior member's removal wins over what the removed device did at the same time, a
///    junior's does not: of two members that remove each other, the senior stays.
/// 5. A *join* is void if its invite is void; if a valid join under the same invite precedes it in the order; if the
///    device has standing at it, or was removed before it; or if a valid entry started an epoch and its author knew the
///    invite but not the join: a new epoch ends the invitations that its author knew.
/// 6. A *remove* is void if its device has never joined before it, or was removed before it; a *forget* if its device
///    has no standing at it, or if a valid forget of its author by a more senior one is concurrent to it.
/// 7. A group has a member. If all of this leaves nobody, as when all leave at the same time, the valid forgets of the
///    device that joined first and was not removed are void, or else the valid removals of the device whose last
///    removal is the last in the order; then everything is decided again.
///
/// An entry is decided when all that it depends on is. Entries of dishonest members can depend on each other in a
/// circle. Then the one of the most senior author that is not decided, the first in the order, is valid, and so on.
struct GroupVerdicts {
    private let graph: GroupGraph
    /// Numbers of entries in the order.
    let order: [Int]
    /// The place of each entry in the order, by number.
    let places: [Int]
    private var verdicts: [Bool?]
    private var joins: [DeviceID: [Int]] = [:]
    private var removals: [DeviceID: [Int]] = [:]
    private var forgets: [DeviceID: [Int]] = [:]
    private var joinsByInvite: [EntryID: [Int]] = [:]
    /// Entries that start an epoch, without the genesis.
    private var epochStarts: [Int] = []
    /// Entries that rule 7 makes void.
    private var pardoned: Set<Int> = []

    init(of graph: GroupGraph) {
        self.graph = graph
        order = graph.order
        var places = [Int](repeating: 0, count: order.count)
        for (place, entry) in order.enumerated() { places[entry] = place }
        self.places = places
        verdicts = [Bool?](repeating: nil, count: order.count)
        for entry in order { register(entry) }
        decideAll()
        while members.isEmpty, let more = pardons() {
            pardoned.formUnion(more)
            verdicts = [Bool?](repeating: nil, count: order.count)
            decideAll()
        }
    }

    /// Whether the entry counts.
    func isValid(_ entry: Int) -> Bool { verdicts[entry] == true }

    /// The joins of a device, the genesis too, in the order.
    func joins(of device: DeviceID) -> [Int] { joins[device] ?? [] }

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

    /// Whether a new epoch ended an invitation.
    func isEnded(_ invite: Int) -> Bool { epochStarts.contains { isValid($0) && graph.comes(invite, before: $0) } }

    /// Rule 7: the entries that are void so that the group has a member; `nil` if there are none.
    private func pardons() -> [Int]? {
        let staying = joined.filter { removals(of: $0).isEmpty }
        let first = staying.min { firstJoin(of: $0) < firstJoin(of: $1) }
        let last = joined.max { lastRemoval(of: $0) < lastRemoval(of: $1) }
        let entries = first.map { forgets[$0] ?? [] } ?? last.map { removals[$0] ?? [] } ?? []
        let valid = entries.filter(isValid)
        return valid.isEmpty ? nil : valid
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
        if entry.epochKeys != nil { epochStarts.append(number) }
        switch entry.body {
        case .join(let invite, _): joinsByInvite[invite, default: []].append(number)
        case .remove(let device, _): removals[device, default: []].append(number)
        case .forget(let device): forgets[device, default: []].append(number)
        case .genesis, .invite, .rekey: break
        }
    }
}

// MARK: - Deciding

/// What is known about a question whose answer depends on other verdicts.
private enum Answer {
    case yes
    case no
    case open

    /// Whether one of the answers is yes; open if that is not known yet.
    static func any(_ entries: some Sequence<Int>, _ answer: (Int) -> Answer) -> Answer {
        var result = Answer.no
        for entry in entries {
            switch answer(entry) {
            case .yes: return .yes
            case .open: result = .open
            case .no: continue
            }
        }
        return result
    }
}

/// A device's standing at an entry.
private enum Standing {
    /// It is a member by this join.
    case member(Int)
    case none
    case open
}

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
            if decided == 0, let first = undecided.min(by: { rank($0) < rank($1) }) { verdicts[first] = true }
        }
    }

    /// What decides first in a circle: the author's seniority, then the place.
    private func rank(_ entry: Int) -> (Int, Int) {
        guard case .member(let join) = standing(of: graph.entries[entry].author, at: entry) else {
            return (Int.max, places[entry])
        }
        return (places[join], places[entry])
    }

    /// Whether an entry is valid; `nil` if that depends on entries that are not decided yet.
    private func judge(_ number: Int) -> Bool? {
        guard !pardoned.contains(number) else { return false }
        let entry = graph.entries[number]
        let isVoid: Answer =
            switch entry.body {
            case .genesis: .no
            case .join(let invite, _): isJoinVoid(number, by: entry.author, under: invite)
            case .invite, .rekey: isVoid(number, by: entry.author)
            case .remove(let device, _):
                either(isVoid(number, by: entry.author), isNoTarget(device, ofRemoval: number))
            case .forget(let device):
                either(
                    isVoid(number, by: entry.author, or: forgets[entry.author] ?? []),
                    lacksStanding(device, at: number))
            }
        return switch isVoid {
        case .yes: false
        case .no: true
        case .open: nil
        }
    }

    private func either(_ first: Answer, _ second: @autoclosure () -> Answer) -> Answer {
        if first == .yes { return .yes }
        let second = second()
        return second == .no ? first : second
    }

    /// Rules 3 and 4; of the other entries, only concurrent ones count.
    private func isVoid(_ number: Int, by author: DeviceID, or others: [Int] = []) -> Answer {
        let others = others.filter { graph.areConcurrent($0, number) }
        switch standing(of: author, at: number) {
        case .none: return .yes
        case .open: return .open
        case .member(let join):
            return Answer.any((removals[author] ?? []) + others) { removal in removes(removal, number, by: join) }
        }
    }

    /// Whether a removal of the author of an entry makes that void. `join` is the author's standing.
    private func removes(_ removal: Int, _ number: Int, by join: Int) -> Answer {
        if graph.comes(removal, before: number) { return answer(removal) }
        guard graph.areConcurrent(removal, number) else { return .no }
        switch standing(of: graph.entries[removal].author, at: removal) {
        case .none: return .no
        case .open: return verdicts[removal] == false ? .no : .open
        case .member(let senior): return places[senior] < places[join] ? answer(removal) : .no
        }
    }

    /// Rule 5.
    private func isJoinVoid(_ number: Int, by device: DeviceID, under invite: EntryID) -> Answer {
        guard let invite = graph.number(of: invite) else { return .yes }
        let siblings = joins(under: graph.entries[invite].id).filter { places[$0] < places[number] }
        let enders = epochStarts.filter { graph.comes(invite, before: $0) && !graph.comes(number, before: $0) }
        return either(
            either(inverse(answer(invite)), wasRemoved(device, before: number)),
            either(
                either(Answer.any(siblings, answer), Answer.any(enders, answer)),
                inverse(lacksStanding(device, at: number))))
    }

    /// Rule 6, for removals.
    private func isNoTarget(_ device: DeviceID, ofRemoval number: Int) -> Answer {
        let earlier = joins(of: device).filter { graph.comes($0, before: number) }
        return either(inverse(Answer.any(earlier, answer)), wasRemoved(device, before: number))
    }

    private func wasRemoved(_ device: DeviceID, before number: Int) -> Answer {
        Answer.any((removals[device] ?? []).filter { graph.comes($0, before: number) }, answer)
    }

    private func lacksStanding(_ device: DeviceID, at number: Int) -> Answer {
        switch standing(of: device, at: number) {
        case .member: .no
        case .none: .yes
        case .open: .open
        }
    }

    /// Rule 2.
    private func standing(of device: DeviceID, at number: Int) -> Standing {
        if case .genesis = graph.entries[number].body { return .member(number) }
        for join in joins(of: device).reversed() where graph.comes(join, before: number) {
            switch either(inverse(answer(join)), isForgotten(device, since: join, at: number)) {
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

    private func answer(_ entry: Int) -> Answer { verdicts[entry].map { $0 ? .yes : .no } ?? .open }

    private func inverse(_ answer: Answer) -> Answer {
        switch answer {
        case .yes: .no
        case .no: .yes
        case .open: .open
        }
    }
}
