internal import JSON
package import LocalDataAPI

/// A declarative list of migrations, checked as a whole before any of it runs.
package struct Manifest: Sendable {
    /// More steps than this are refused.
    static let mostSteps = 1000

    let steps: [Step]

    /// Reads a manifest.
    ///
    /// - Throws: What is wrong with each step; if all are right, how they get in each other's way.
    init(_ value: JSON) throws(ManifestFaults) {
        guard case .array(let elements) = value.content else {
            throw Self.fault("a manifest of migrations is \(value.kind), expected a list of steps")
        }
        guard elements.count <= Self.mostSteps else {
            throw Self.fault(
                "a manifest of migrations has \(elements.count) steps; at most \(Self.mostSteps) are possible")
        }
        var faults = ManifestFaults()
        let steps = elements.enumerated().compactMap { index, element in
            faults.collect { () throws(ManifestFaults) in try Step(element, number: index + 1) }
        }
        for step in steps { _ = faults.collect { () throws(ManifestFaults) in try step.validate() } }
        try faults.check()
        try ManifestOrder(steps).check()
        self.steps = steps
    }

    private static func fault(_ message: String) -> ManifestFaults {
        ManifestFaults(ManifestFaults.Fault(pointer: JSONPointer(tokens: []), message: message, hint: ""))
    }

    /// Reads a manifest that came with the configuration. Its numbers are those of the configuration: 64 bits.
    ///
    /// - Throws: `invalidOptions` with step and member of every mistake, or at most ten.
    package init(_ elements: [AnyCodable]) throws(StorageError) {
        do throws(ManifestFaults) { try self.init(.array(elements.map { JSON($0) })) } catch { throw error.error() }
    }

    /// No steps.
    package init() { steps = [] }

    /// The steps for single keys.
    package var migrations: [AnyStorageMigration] { steps.compactMap(\.migration) }
    /// The steps for prefixes.
    package var bulkMigrations: [AnyBulkMigration] { steps.compactMap(\.bulkMigration) }
}

extension Step {
    /// Whether it may ever run.
    fileprivate func validate() throws(ManifestFaults) {
        do throws(MigrationError) {
            try migration?.validate()
            try bulkMigration?.validate()
        } catch { throw place.error(error.message) }
    }
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
