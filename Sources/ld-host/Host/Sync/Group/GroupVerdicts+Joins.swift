internal import LocalDataAPI

// Rule 7.
extension GroupVerdicts {
    func isJoinVoid(_ number: Int, by device: DeviceID, under invite: EntryID) -> Answer {
        guard let invite = graph.number(of: invite) else { return .yes }
        let siblings = joins(under: graph.entries[invite].id).filter { $0 != number }
        let enders = enders(of: invite).filter { !graph.comes(number, before: $0) }
        return inverse(answer(invite)) || wasRemoved(device, before: number)
            || (leftOut == .invitationsEndWithTheirAuthor
                ? .no : isEnded(number, byRemovalOf: graph.authors[invite]))
            || Answer.any(siblings) { both(answer($0), comesFirst($0, before: number, under: invite)) }
            || Answer.any(enders) { both(answer($0), isEnded(number, under: invite, by: $0)) }
            || inverse(lacksStanding(device, at: number))
    }

    /// Whether a valid entry has taken in a join.
    func isTakenIn(_ join: Int, under invite: Int) -> Bool {
        isTakenIn(join, under: invite, unknownTo: nil) == .yes
    }

    /// - Parameter other: Taken in by an entry that is not this one and not after it.
    private func isTakenIn(_ join: Int, under invite: Int, unknownTo other: Int?) -> Answer {
        let witnesses = followers[join].reduce(into: [Int]()) { witnesses, entry in
            let author = graph.authors[entry]
            let isLater = other.map { $0 == entry || graph.comes($0, before: entry) } ?? false
            // Devices that join by several codes do not vouch for each other. Their entries are not even asked whether
            // they count: that can depend on this join, and a circle decides by other rules than this one.
            guard !isLater, author != graph.authors[join],
                joins(of: author).contains(where: { graph.comes($0, before: invite) })
            else { return }
            witnesses.append(entry)
        }
        return Answer.any(witnesses) { entry in
            // A void entry says nothing, whether its author has standing is known or not.
            guard answer(entry) != .no else { return .no }
            switch standing(of: graph.authors[entry], at: entry) {
            case .member(let own): return graph.comes(own, before: invite) ? answer(entry) : .no
            case .none: return .no
            case .open: return .open
            }
        }
    }

    /// Whether the first of two joins under an invite is the one that counts.
    private func comesFirst(_ first: Int, before second: Int, under invite: Int) -> Answer {
        // The place in the order is the author's choice, who may have used an old copy of the log.
        switch (
            isTakenIn(first, under: invite, unknownTo: second), isTakenIn(second, under: invite, unknownTo: first)
        ) {
        case (.yes, .no): .yes
        case (.no, .yes): .no
        case (.open, _), (_, .open): .open
        case (.yes, .yes), (.no, .no): Answer(places[first] < places[second])
        }
    }

    /// Whether a valid entry that ends an invite, and is not after a join under it, makes that void.
    func isEnded(_ join: Int, under invite: Int, by ender: Int) -> Answer {
        guard case .rekey = graph.entries[ender].body else { return .yes }
        return inverse(isTakenIn(join, under: invite, unknownTo: ender))
    }
}
