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
        guard removes(number, graph.authors[removal]) else {
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
        let authors = (graph.authors[first], graph.authors[second])
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
        let author = graph.authors[number]
        let earlier = graph.entries.indices.lazy.filter { [graph] earlier in
            earlier != number && graph.authors[earlier] == author && graph.comes(earlier, before: other)
                && !graph.comes(earlier, before: number)
        }
        return Answer.any(earlier, answer)
    }

    /// Whether a device other than the author, `device` and whom the entry removes had taken it in before it knew of a
    /// removal of `device`, and had not joined by what `device` or the author did unknown to that removal.
    ///
    /// - Parameter isAny: Whether it does not matter how it joined.
    private func isWitnessed(
        _ number: Int, of device: DeviceID, against removal: Int, ofAny isAny: Bool = false
    ) -> Answer {
        let inQuestion = [device, graph.authors[number]]
        return Answer.any(witnesses(of: number, against: removal, besides: device)) { witness in
            let joins = joins(of: graph.authors[witness]).filter {
                graph.comes($0, before: witness)
                    && (isAny || leftOut == .witnessesJoinedBefore || isIndependent($0, of: inQuestion, removal))
            }
            return both(answer(witness), Answer.any(joins, answer))
        }
    }

    /// Whether a join was known to a removal's author, or a device invited to it that is none of these, and whose own
    /// join is as independent.
    private func isIndependent(_ join: Int, of devices: [DeviceID], _ removal: Int) -> Bool {
        if graph.comes(join, before: removal) { return true }
        guard case .join(let invite, _) = graph.entries[join].body, let invite = graph.number(of: invite) else {
            return false
        }
        let host = graph.authors[invite]
        return !devices.contains(host)
            && joins(of: host).contains { graph.comes($0, before: invite) && isIndependent($0, of: devices, removal) }
    }

    /// Entries after one, and not after a removal.
    private func witnesses(of number: Int, against removal: Int, besides device: DeviceID) -> [Int] {
        followers[number].reduce(into: []) { witnesses, witness in
            let author = graph.authors[witness]
            let isThird = author != device && author != graph.authors[number] && !removes(number, author)
            guard isThird || leftOut == .witnessesAreOthers, witness != removal,
                !graph.comes(removal, before: witness) || leftOut == .witnessesDidNotKnow
            else { return }
            witnesses.append(witness)
        }
    }

}

// Circles.
extension GroupVerdicts {
    /// Whether an entry may be valid as far as it is known, because it and what gives its author standing may have a
    /// witness against each removal that may count.
    func mayStand(_ number: Int) -> Bool {
        guard answer(number) == .open else { return answer(number) == .yes }
        let isDefensible = attacks(on: number).allSatisfy { device, removal in
            graph.areConcurrent(removal, number) && !graph.entries[removal].isWithCode
                && isWitnessed(
                    number, of: device, against: removal, ofAny: leavesOut(removal, knownTo: number) != .no) != .no
        }
        return isDefensible && grounds(of: number).contains(where: mayStand)
    }

    /// The undecided entries that may void an entry, or what gives its author standing: removals, forgets, and those
    /// that end an invite.
    func threats(to number: Int) -> Set<Int> {
        var threats = Set(attacks(on: number).map(\.removal).filter { answer($0) == .open })
        if case .join(let invite, _) = graph.entries[number].body, let invite = graph.number(of: invite) {
            // One that leaves out the join of a remover voids the remover's removals with it.
            threats.formUnion(
                enders(of: invite).filter { answer($0) == .open && !graph.comes(number, before: $0) })
        }
        for forget in forgets(of: graph.authors[number]) where answer(forget) == .open && forget != number {
            threats.insert(forget)
        }
        for ground in grounds(of: number) where answer(ground) == .open { threats.formUnion(self.threats(to: ground)) }
        threats.remove(number)
        return threats
    }

    /// The removals that may void an entry, of its author or of the one that invited it.
    private func attacks(on number: Int) -> [(device: DeviceID, removal: Int)] {
        var devices = [graph.authors[number]]
        if case .join(let invite, _) = graph.entries[number].body, let invite = graph.number(of: invite) {
            devices.append(graph.authors[invite])
        }
        return devices.flatMap { device in
            (removals[device] ?? []).filter {
                answer($0) != .no && $0 != number && !graph.comes(number, before: $0)
            }.map { (device, $0) }
        }
    }

    /// What an entry needs one of: the joins of its author, or the invite of a join.
    private func grounds(of number: Int) -> [Int] {
        if case .join(let invite, _) = graph.entries[number].body { return graph.number(of: invite).map { [$0] } ?? [] }
        return joins(of: graph.authors[number]).filter { graph.comes($0, before: number) }
    }
}
