internal import HostGround
internal import LocalDataAPI

/// Who knows the keys of epochs, as the entries of a log say.
struct EpochKnowledge {
    private struct Question: Hashable {
        let (device, start): (DeviceID, Int)
    }

    private let graph: GroupGraph
    private let verdicts: GroupVerdicts
    private var answers: [Question: Bool] = [:]

    init(_ graph: GroupGraph, _ verdicts: GroupVerdicts) { (self.graph, self.verdicts) = (graph, verdicts) }

    /// The devices that know the key of the epoch that an entry starts, of those that have a valid join.
    mutating func devices(of start: Int) -> Set<DeviceID> {
        let entry = graph.entries[start]
        var devices = Set(entry.epochKeys?.boxes.keys.map { $0 } ?? [])
        devices.insert(entry.author)
        for device in verdicts.joined where knows(device, start) { devices.insert(device) }
        return devices
    }

    /// Whether a device knows the key of the epoch that an entry starts: it made it, was given it, or has joined by an
    /// invitation that gave it.
    mutating func knows(_ device: DeviceID, _ start: Int) -> Bool {
        let entry = graph.entries[start]
        if entry.author == device || entry.epochKeys?.boxes[device] != nil { return true }
        let question = Question(device: device, start: start)
        if let answer = answers[question] { return answer }
        // Until it is answered: who invited it may have been invited by it before.
        answers[question] = false
        let answer = verdicts.joins(of: device).contains { join in
            guard verdicts.isValid(join), case .join(let invite, _) = graph.entries[join].body,
                let number = graph.number(of: invite), case .invite(let invite) = graph.entries[number].body
            else { return false }
            if invite.epoch == entry.id.epoch { return true }
            // The box has all that the inviting member knew.
            if graph.comes(start, before: number) { return knows(graph.authors[number], start) }
            return entry.epochKeys?.invitationBoxes[invite.invitation] != nil && graph.comes(start, before: join)
        }
        answers[question] = answer
        return answer
    }

    /// Whether the code of an invite opens the key of the epoch that an entry starts.
    func opens(_ number: Int, _ start: Int) -> Bool {
        guard case .invite(let invite) = graph.entries[number].body else { return false }
        let entry = graph.entries[start]
        return invite.epoch == entry.id.epoch || graph.comes(start, before: number)
            || entry.epochKeys?.invitationBoxes[invite.invitation] != nil
    }
}
