internal import LocalDataAPI

/// What is known about a question whose answer depends on verdicts.
enum Answer {
    case yes
    case no
    case open

    init(_ isSo: Bool) { self = isSo ? .yes : .no }

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

    static func || (first: Answer, second: @autoclosure () -> Answer) -> Answer {
        if first == .yes { return .yes }
        let second = second()
        return second == .no ? first : second
    }
}

func both(_ first: Answer, _ second: @autoclosure () -> Answer) -> Answer {
    inverse(inverse(first) || inverse(second()))
}

func inverse(_ answer: Answer) -> Answer {
    switch answer {
    case .yes: .no
    case .no: .yes
    case .open: .open
    }
}

/// A device's standing at an entry.
enum Standing {
    /// It is a member by this join.
    case member(Int)
    case none
    case open
}

// Rules 4 to 6.
extension GroupVerdicts {
    /// Whether a removal of a device makes void an entry of that device, or a join under its invite.
    func isEnded(_ number: Int, byRemovalOf device: DeviceID) -> Answer {
        Answer.any(removals[device] ?? []) { removal in ends(removal, number, of: device) }
    }

    private func ends(_ removal: Int, _ number: Int, of device: DeviceID) -> Answer {
        guard removal != number, !graph.comes(number, before: removal) else { return .no }
        if graph.comes(removal, before: number) { return answer(removal) }
        if leftOut == .removalsAreFinal {
            guard case .member(let join) = standing(of: device, at: number) else { return .open }
            return both(answer(removal), isMoreSenior(removal, than: join))
        }
        if graph.entries[removal].isWithCode, leftOut != .codeBeatsAll { return answer(removal) }
        // A witness is looked for only if it matters.
        guard answer(removal) != .no else { return .no }
        guard removes(number, graph.entries[removal].author) else {
            return both(answer(removal), inverse(isWitnessed(number, of: device, against: removal)))
        }
        return both(answer(removal), beats(removal, number))
    }

    /// Rule 6: whether another removal with the code makes one void.
    func isBeatenWithCode(_ number: Int, by author: DeviceID) -> Answer {
        let others = (removals[author] ?? []).filter { other in
            guard graph.entries[other].isWithCode else { return false }
            return graph.comes(other, before: number)
                || graph.areConcurrent(other, number) && places[other] < places[number]
        }
        return Answer.any(others, answer)
    }

    /// Rule 5: whether the first of two removals of each other's authors is the one that counts.
    private func beats(_ first: Int, _ second: Int) -> Answer {
        let authors = (graph.entries[first].author, graph.entries[second].author)
        let allows = leftOut == .nothingIsLeftOut
        let isForked = (
            allows ? .no : leavesOut(first, knownTo: second), allows ? .no : leavesOut(second, knownTo: first)
        )
        guard isForked.0 != .open, isForked.1 != .open else { return .open }
        // The author of a removal that leaves out something chooses who had joined before it.
        let witnessed = (
            isWitnessed(first, of: authors.0, against: second, ofAny: isForked.1 == .yes),
            isWitnessed(second, of: authors.1, against: first, ofAny: isForked.0 == .yes)
        )
        switch witnessed {
        case (.yes, .no): return .yes
        case (.no, .yes): return .no
        case (.open, _), (_, .open): return .open
        case (.yes, .yes), (.no, .no): break
        }
        guard isForked.0 == isForked.1 else { return isForked.1 }
        switch (standing(of: authors.0, at: first), standing(of: authors.1, at: second)) {
        case (.member(let left), .member(let right)): return Answer(places[left] < places[right])
        case (.none, _): return .no
        case (_, .none): return .yes
        case (.open, _), (_, .open): return .open
        }
    }

    private func removes(_ number: Int, _ device: DeviceID) -> Bool {
        if case .remove(device, _, _) = graph.entries[number].body { true } else { false }
    }

    /// Whether an entry is not after all those of its author that count and that the author of another one knew.
    private func leavesOut(_ number: Int, knownTo other: Int) -> Answer {
        let author = graph.entries[number].author
        let earlier = graph.entries.indices.lazy.filter { [graph] earlier in
            earlier != number && graph.entries[earlier].author == author && graph.comes(earlier, before: other)
                && !graph.comes(earlier, before: number)
        }
        return Answer.any(earlier, answer)
    }

    /// Whether a device other than the author, `device` and whom the entry removes had taken it in before it knew of a
    /// removal of `device`, before which it had joined.
    ///
    /// - Parameter isAny: Whether it need not have joined before the removal.
    private func isWitnessed(
        _ number: Int, of device: DeviceID, against removal: Int, ofAny isAny: Bool = false
    ) -> Answer {
        Answer.any(witnesses(of: number, against: removal, besides: device)) { witness in
            let author = graph.entries[witness].author
            let joins = joins(of: author).filter {
                graph.comes($0, before: isAny || leftOut == .witnessesJoinedBefore ? witness : removal)
            }
            return both(answer(witness), Answer.any(joins, answer))
        }
    }

    /// Entries after one, and not after a removal.
    private func witnesses(of number: Int, against removal: Int, besides device: DeviceID) -> some Sequence<Int> {
        graph.entries.indices.lazy.filter { witness in
            let author = graph.entries[witness].author
            let isThird =
                author != device && author != graph.entries[number].author && !removes(number, author)
            return graph.comes(number, before: witness) && witness != removal
                && (!graph.comes(removal, before: witness) || leftOut == .witnessesDidNotKnow)
                && (isThird || leftOut == .witnessesAreOthers)
        }
    }

    /// Whether an entry is disputed, and would be witnessed against each removal that may count, by what may count.
    func mayBeWitnessed(_ number: Int) -> Bool {
        let author = graph.entries[number].author
        let removals = (removals[author] ?? []).filter {
            answer($0) != .no && graph.areConcurrent($0, number)
        }
        return !removals.isEmpty
            && removals.allSatisfy { removal in
                !graph.entries[removal].isWithCode
                    && isWitnessed(
                        number, of: author, against: removal, ofAny: leavesOut(removal, knownTo: number) != .no) != .no
            }
    }
}
