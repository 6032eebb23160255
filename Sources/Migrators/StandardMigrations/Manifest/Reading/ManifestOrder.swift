internal import LocalDataAPI

/// Whether the steps of a manifest can be run in any order that keeps `after`, again and again, with one result.
struct ManifestOrder {
    private let steps: [Step]
    private let numbers: [String: Int]

    init(_ steps: [Step]) {
        self.steps = steps
        numbers = Dictionary(steps.enumerated().map { ($1.id, $0) }, uniquingKeysWith: { first, _ in first })
    }

    func check() throws(ManifestFaults) {
        var faults = ManifestFaults()
        for (index, step) in steps.enumerated() where numbers[step.id] != index {
            _ = faults.collect { () throws(ManifestFaults) in
                throw step.place.error("there are two steps with this id", hint: "give one of them another id")
            }
        }
        for step in steps {
            for id in step.after { _ = faults.collect { () throws(ManifestFaults) in try number(of: id, in: step) } }
        }
        try faults.check()
        let earlier = try ancestors()
        for index in steps.indices {
            _ = faults.collect { () throws(ManifestFaults) in try check(index, earlier) }
        }
        try faults.check()
    }

    /// A step with each that is written before it.
    private func check(_ index: Int, _ earlier: [Set<Int>]) throws(ManifestFaults) {
        for other in 0..<index {
            try check(steps[other], steps[index], earlier[index].contains(other), earlier[other].contains(index))
        }
    }

    /// For each step all that come before it.
    private func ancestors() throws(ManifestFaults) -> [Set<Int>] {
        var found = [Set<Int>?](repeating: nil, count: steps.count)
        for start in steps.indices where found[start] == nil {
            // What is above is on the way to what is below.
            var path: [(step: Int, next: Int)] = [(start, 0)]
            while let (current, next) = path.last {
                let after = steps[current].after
                guard next < after.count else {
                    found[current] = after.reduce(into: []) { set, id in
                        guard let number = numbers[id] else { return }
                        set.insert(number)
                        set.formUnion(found[number] ?? [])
                    }
                    path.removeLast()
                    continue
                }
                path[path.count - 1].next += 1
                let number = try number(of: after[next], in: steps[current])
                guard !path.contains(where: { $0.step == number }) else {
                    let circle = path.map(\.step).drop { $0 != number }.map { steps[$0].id } + [steps[number].id]
                    throw steps[number].place.member("after").error(
                        "steps come after each other in a circle: \(circle.joined(separator: " after "))",
                        hint: "leave one of them out of 'after'; values are never exchanged, use a third key")
                }
                if found[number] == nil { path.append((number, 0)) }
            }
        }
        return found.map { $0 ?? [] }
    }

    private func number(of id: String, in step: Step) throws(ManifestFaults) -> Int {
        if let number = numbers[id] { return number }
        let nearest = EditDistance.nearest(to: id, in: steps.map(\.id), within: max(2, id.count / 3))
        throw step.place.member("after").error(
            "there is no step \(ManifestPlace.quoted(id))", hint: nearest.map { "did you mean '\($0)'?" } ?? "")
    }

    /// Two steps may meet at a key only in an order that makes no difference when they run again.
    private func check(_ first: Step, _ second: Step, _ isOrdered: Bool, _ isReversed: Bool) throws(ManifestFaults) {
        let forward = meeting(first.brings, second.takes)
        let backward = meeting(second.brings, first.takes)
        if let forward, backward != nil {
            throw second.place.error(
                "exchanges '\(forward.text)' and '\(backward?.text ?? "")' with step '\(first.id)', which cannot be run "
                    + "again", hint: "use keys that nothing is taken from")
        }
        if let forward { try chain(first, second, forward, isOrdered, isReversed) }
        if let backward { try chain(second, first, backward, isReversed, isOrdered) }
        guard !isOrdered, !isReversed else { return }
        for (verb, key) in [
            ("bring", meeting(first.brings, second.brings)), ("take", meeting(first.takes, second.takes)),
        ] {
            guard let key else { continue }
            throw second.place.error(
                "step '\(first.id)' and this one both \(verb) '\(key.text)', and none comes first",
                hint: "if that is meant, write \"after\": [\"\(first.id)\"]")
        }
    }

    /// What one step brings and another takes.
    private func chain(
        _ giver: Step, _ taker: Step, _ key: ManifestKey, _ isOrdered: Bool, _ isReversed: Bool
    ) throws(ManifestFaults) {
        guard !isReversed else {
            throw giver.place.error(
                "brings '\(key.text)' after step '\(taker.id)' has taken what was there; the next run would take this too",
                hint: "bring it to a key that nothing is taken from")
        }
        guard isOrdered else {
            throw taker.place.error(
                "takes '\(key.text)', which step '\(giver.id)' brings",
                hint: "if that is meant, write \"after\": [\"\(giver.id)\"]")
        }
    }

    private func meeting(_ left: [ManifestKey], _ right: [ManifestKey]) -> ManifestKey? {
        for key in left where right.contains(where: { $0.overlaps(key) }) { return key }
        return nil
    }
}
