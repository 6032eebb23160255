internal import FoundationEssentials
internal import LocalDataAPI

extension GroupState {
    /// What the entries of a graph say together.
    init(of graph: GroupGraph, _ verdicts: GroupVerdicts, group: EntryID) {
        let fold = GroupFolding(graph, verdicts)
        self.init(
            group: group, members: fold.profiles(of: fold.members), removed: fold.profiles(of: fold.removed),
            forgotten: fold.profiles(of: fold.forgotten), epoch: fold.epoch, needsRekey: fold.needsRekey,
            invitations: fold.invitations)
    }
}

/// Puts the valid entries of a graph together.
private struct GroupFolding {
    private let graph: GroupGraph
    private let verdicts: GroupVerdicts
    let members: Set<DeviceID>
    let removed: Set<DeviceID>
    let forgotten: Set<DeviceID>

    init(_ graph: GroupGraph, _ verdicts: GroupVerdicts) {
        self.graph = graph
        self.verdicts = verdicts
        members = Set(verdicts.members)
        removed = Set(verdicts.joined.filter { !verdicts.removals(of: $0).isEmpty })
        forgotten = Set(verdicts.joined).subtracting(members).subtracting(removed)
    }

    /// The current epoch's entry: of those with the greatest number, the last in the order.
    private var epochStart: Int? {
        let starts = verdicts.order.filter { graph.entries[$0].startsEpoch && verdicts.isValid($0) }
        return starts.max { left, right in
            (graph.epochNumber(of: left), verdicts.places[left]) < (
                graph.epochNumber(of: right), verdicts.places[right]
            )
        }
    }

    var epoch: GroupState.Epoch {
        guard let start = epochStart else { return GroupState.Epoch(number: 0, id: EpochID(high: 0, low: 0)) }
        return GroupState.Epoch(number: graph.epochNumber(of: start), id: graph.entries[start].id.epoch)
    }

    /// Whether the devices that may know the current epoch's key are not the members.
    var needsRekey: Bool {
        guard let start = epochStart, verdicts.leftOut != .epochsFollowMembers else { return false }
        let entry = graph.entries[start]
        let knowing = invited(to: entry.id.epoch).union([entry.author]).union(
            entry.epochKeys?.boxes.keys.map { $0 } ?? [])
        return members != knowing
    }

    /// Devices that used a valid invitation with an epoch's key, even those whose join is void.
    private func invited(to epoch: EpochID) -> Set<DeviceID> {
        var devices: Set<DeviceID> = []
        for number in verdicts.order where verdicts.isValid(number) {
            guard case .invite(let invite) = graph.entries[number].body, invite.epoch == epoch else { continue }
            devices.formUnion(verdicts.joins(under: graph.entries[number].id).map { graph.entries[$0].author })
        }
        return devices
    }

    var invitations: [GroupState.OpenInvitation] {
        let open = verdicts.order.compactMap { number -> GroupState.OpenInvitation? in
            let entry = graph.entries[number]
            guard case .invite(let invite) = entry.body, verdicts.isValid(number), !verdicts.isEnded(number),
                !verdicts.joins(under: entry.id).contains(where: verdicts.isValid)
            else { return nil }
            return GroupState.OpenInvitation(id: invite.invitation, author: entry.author, expiry: invite.expiry)
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
