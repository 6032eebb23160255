internal import HostGround
internal import LocalDataAPI

/// Puts the valid entries of a graph together.
struct GroupFolding {
    private let graph: GroupGraph
    private let verdicts: GroupVerdicts
    /// The entry that starts the current epoch.
    private let current: Int?
    /// The entry with which its era began.
    private let eraStart: Int?
    /// All that start an epoch of the era.
    private let era: [Int]
    /// What every device keeps.
    private let lasting: NumberSet
    let members: Set<DeviceID>
    let removed: Set<DeviceID>
    let forgotten: Set<DeviceID>

    init(_ graph: GroupGraph, _ verdicts: GroupVerdicts) {
        self.graph = graph
        self.verdicts = verdicts
        lasting = verdicts.lasting
        members = Set(verdicts.members)
        removed = Set(verdicts.joined.filter { !verdicts.removals(of: $0).isEmpty })
        forgotten = Set(verdicts.joined).subtracting(members).subtracting(removed)
        let starts = verdicts.order.filter { graph.entries[$0].startsEpoch && verdicts.isValid($0) }
        // The last in the order of those with the greatest numbers, that of the era first.
        let current = starts.max { left, right in
            (graph.eraNumber(of: left), graph.epochNumber(of: left), verdicts.places[left]) < (
                graph.eraNumber(of: right), graph.epochNumber(of: right), verdicts.places[right]
            )
        }
        self.current = current
        // The genesis always starts an epoch; without one there is no era.
        guard let current else {
            (eraStart, era) = (nil, [])
            return
        }
        let alike = starts.filter { graph.eraNumber(of: $0) == graph.eraNumber(of: current) }
        let first = alike.first { start in
            graph.entries[start].startsEra && (start == current || graph.comes(start, before: current))
        }
        // The entry that started the era can be void.
        let eraStart = first ?? current
        self.eraStart = eraStart
        era = alike.filter { $0 == eraStart || graph.comes(eraStart, before: $0) }
    }

    var epoch: GroupState.Epoch {
        guard let current, let eraStart else {
            let none = EpochID(high: 0, low: 0)
            return GroupState.Epoch(number: 0, id: none, eraStart: none, era: [])
        }
        return GroupState.Epoch(
            number: graph.epochNumber(of: current), id: graph.entries[current].id.epoch,
            eraStart: graph.entries[eraStart].id.epoch, era: Set(era.map { graph.entries[$0].id.epoch }))
    }

    /// Whether the devices that may know the current epoch's key are not the members, or a member lacks one of the era.
    var needsRekey: Bool {
        guard let current, verdicts.leftOut != .epochsFollowMembers else { return false }
        var knowing = EpochKnowledge(graph, verdicts)
        return knowing.devices(of: current) != members
            || era.contains { start in !members.allSatisfy { knowing.knows($0, start) } }
    }

    var isKnownByCode: Bool {
        guard let current, verdicts.leftOut != .epochsFollowMembers else { return false }
        let knowing = EpochKnowledge(graph, verdicts)
        return invites.contains { number in
            knowing.opens(number, current)
                && (verdicts.isEnded(number) || verdicts.joins(under: graph.entries[number].id).contains(where: isUse))
        }
    }

    /// Whether a join shows that its author has the code, and is no member that has the key anyway. One after an entry
    /// that nobody keeps cannot be kept, and says nothing: what is kept says what all say.
    private func isUse(_ join: Int) -> Bool {
        verdicts.isValid(join) || !members.contains(graph.authors[join]) && graph.isClosed(lasting, before: join)
    }

    /// The valid invites.
    private var invites: [Int] {
        verdicts.order.filter { number in
            if case .invite = graph.entries[number].body { verdicts.isValid(number) } else { false }
        }
    }

    var invitations: [GroupState.OpenInvitation] {
        let open = verdicts.order.compactMap { number -> GroupState.OpenInvitation? in
            let entry = graph.entries[number]
            guard case .invite(let invite) = entry.body, verdicts.isValid(number), !verdicts.isEnded(number),
                !verdicts.joins(under: entry.id).contains(where: verdicts.isValid)
            else { return nil }
            return GroupState.OpenInvitation(
                id: invite.invitation, entry: entry.id, agreementKey: invite.agreementKey, author: entry.author,
                expiry: invite.expiry, isUsedInVain: verdicts.joins(under: entry.id).contains(where: isUse))
        }
        return open.sorted { ($0.id, $0.expiry, $0.author) < ($1.id, $1.expiry, $1.author) }
    }

    /// The devices as they presented themselves when they last joined, in the order of their joins.
    func profiles(of devices: Set<DeviceID>) -> [GroupState.Member] {
        let joins = devices.compactMap { device in
            verdicts.standing(of: device) ?? verdicts.joins(of: device).last(where: verdicts.isValid)
        }
        return joins.sorted { verdicts.places[$0] < verdicts.places[$1] }.compactMap { number in
            let entry = graph.entries[number]
            return entry.profile.map {
                GroupState.Member(
                    id: entry.author, name: $0.name, role: $0.role, signingKey: entry.authorKey,
                    agreementKey: $0.agreementKey, since: entry.time)
            }
        }
    }
}
