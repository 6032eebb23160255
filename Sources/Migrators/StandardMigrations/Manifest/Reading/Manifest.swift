package import LocalDataAPI

/// A declarative list of migrations, checked as a whole before any of it runs.
package struct Manifest: Sendable {
    /// More steps than this are refused.
    static let mostSteps = 1000

    let steps: [Step]

    /// Reads a manifest.
    ///
    /// - Throws: `invalidOptions` with the step, the member, and what to write.
    init(_ value: JSON) throws(StorageError) {
        guard case .array(let elements) = value else {
            throw StorageError(.invalidOptions, "a manifest of migrations is \(value.kind), expected a list of steps")
        }
        guard elements.count <= Self.mostSteps else {
            throw StorageError(
                .invalidOptions,
                "a manifest of migrations has \(elements.count) steps; at most \(Self.mostSteps) are possible")
        }
        var steps: [Step] = []
        for (index, element) in elements.enumerated() { steps.append(try Step(element, number: index + 1)) }
        try ManifestOrder(steps).check()
        for step in steps {
            do throws(MigrationError) {
                try step.migration?.validate()
                try step.bulkMigration?.validate()
            } catch { throw ManifestPlace(step: "step \(ManifestPlace.quoted(step.id))").error(error.message) }
        }
        self.steps = steps
    }

    /// Reads a manifest that came with the configuration. Its numbers are those of the configuration: 64 bits.
    package init(_ elements: [AnyCodable]) throws(StorageError) {
        try self.init(.array(elements.map { JSON($0) }))
    }

    /// No steps.
    package init() { steps = [] }

    /// The steps for single keys.
    package var migrations: [AnyStorageMigration] { steps.compactMap(\.migration) }
    /// The steps for prefixes.
    package var bulkMigrations: [AnyBulkMigration] { steps.compactMap(\.bulkMigration) }
}

extension JSON {
    /// A value whose numbers have been read before.
    init(_ value: AnyCodable) {
        switch value.content {
        case .null: self = .null
        case .bool(let flag): self = .bool(flag)
        case .int(let number): self = .number("\(number)")
        case .double(let number): self = .number("\(number)")
        case .string(let text): self = .string(text)
        case .array(let elements): self = .array(elements.map { JSON($0) })
        case .dictionary(let members):
            self = .object(
                JSONObject(
                    members: members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
                        .map { JSONObject.Member(name: $0.key, value: JSON($0.value)) }))
        }
    }
}
