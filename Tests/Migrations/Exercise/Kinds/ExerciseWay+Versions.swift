internal import LocalDataAPI

/// Three versions of a value.
private struct NoteV1: Codable, Equatable { let text: String }

private struct NoteV2: Codable, Equatable {
    let text: String
    let tags: [String]
}

private struct NoteV3: Codable, Equatable, VersionedValue {
    static let version = 3
    let title: String
    let tags: [String]
}

extension ExerciseWay {
    /// The value changes in place; the other location only has a neighbour.
    func versions() throws -> ExerciseCase {
        let plain: StorageKey<NoteV1> = new("note")
        let builder = DataMigrator<NoteV3>.Builder(targetType: NoteV3.self)
        builder
            .register(from: NoteV1.self, to: NoteV2.self) { v1 in
                try RunCount.add()
                return NoteV2(text: v1.text, tags: ["of 1"])
            }
            .register(from: NoteV2.self, to: NoteV3.self) { NoteV3(title: $0.text, tags: $0.tags + ["of 2"]) }
        let note = StorageKey(
            name: plain.name, domain: plain.domain, security: plain.security, owner: plain.owner,
            description: plain.description, migrator: try builder.build())
        return ExerciseCase(
            destination: ExerciseDestination(note),
            before: try neighbours() + [ExerciseValue(plain, NoteV1(text: "the note"))],
            steps: [
                ExerciseCase.Step(
                    id: "versions of \(plain.domain)/\(plain.name)",
                    written: [try ExerciseValue(note, NoteV3(title: "the note", tags: ["of 1", "of 2"]))], removed: [])
            ])
    }
}
