internal import LocalDataAPI

extension ExerciseWay {
    /// A container in the destination: the first step changes its settings. The second moves a value between it and the
    /// source, in the direction in which the value stays protected.
    func container() throws -> ExerciseCase {
        let isTaken = !source.isProtected || destination.isProtected
        let (here, there) = (destination.domain, source.domain)
        let moved: ContainerEdit =
            isTaken
            ? .move(from: "\(there)/Old.moved", to: "moved") : .move(from: "moved", to: "\(there)/Old.moved")
        let chain = ContainerChain(
            ContainerDefinition(name: "Exercise", version: 3, store: here),
            [
                ContainerStep(
                    from: 1, to: 2, [.swap("a", "b"), .rename("c", to: "d"), .setDefault("e", "added")]),
                ContainerStep(from: 2, to: 3, [moved, .remove("d")]),
            ])
        func key<Value>(_ name: String, _ domain: StorageDomain) -> StorageKey<Value> {
            StorageKey(
                name: name, domain: domain, security: domain.ownPolicy, owner: "exercise",
                description: "a setting of the exercise")
        }
        func setting(_ name: String, _ value: String) throws -> ExerciseValue {
            try ExerciseValue(key("Exercise.\(name)", here), value)
        }
        let version: StorageKey<Int> = key("Exercise.__version", here)
        let outside = try ExerciseValue(key("Old.moved", there), "moved")
        let inside = try setting("moved", "moved")
        let steps = chain.migrations.dropFirst().map(\.id)
        return ExerciseCase(
            destination: ExerciseDestination(version), container: chain,
            before: try neighbours() + [
                setting("a", "of a"), setting("b", "of b"), setting("c", "of c"), isTaken ? outside : inside,
                ExerciseValue(version, 1),
            ],
            steps: [
                ExerciseCase.Step(
                    id: steps[0],
                    written: [
                        try setting("a", "of b"), try setting("b", "of a"), try setting("d", "of c"),
                        try setting("e", "added"), try ExerciseValue(version, 2),
                    ],
                    removed: [try setting("c", "").key]),
                ExerciseCase.Step(
                    id: steps[1], written: [isTaken ? inside : outside, try ExerciseValue(version, 3)],
                    removed: [isTaken ? outside.key : inside.key, try setting("d", "").key]),
            ], isCounted: false)
    }
}
