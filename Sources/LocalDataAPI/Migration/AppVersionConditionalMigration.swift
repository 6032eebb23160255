/// Runs another migration if an app before a given version wrote the data.
///
/// It is one step of several. The steps that run lie after the data's version and not after the running app's version,
/// in the order of their registration or dependencies. Data of 1.0 under an app of 3.0 takes the steps to 2.0 and to
/// 3.0; under 2.0.0-beta.3 it takes neither the step to 2.0.0-rc.1 nor that to 2.0.0.
///
/// The version that wrote the data counts, not the running one. It is recorded with every value whose store keeps
/// attributes; for other data, `migrations.dataVersion` in the configuration sets it.
public struct AppVersionConditionalMigration<Value: Codable & Sendable>: ConditionalMigration {
    /// The destination.
    public let destinationKey: StorageKey<Value>
    /// The first version whose data needs no migration.
    public let minAppVersion: String
    /// The migration to run, if its own condition holds too.
    public let fallbackMigration: AnyStorageMigration

    /// Declares a migration.
    public init(destinationKey: StorageKey<Value>, minAppVersion: String, fallbackMigration: AnyStorageMigration) {
        self.destinationKey = destinationKey
        self.minAppVersion = minAppVersion
        self.fallbackMigration = fallbackMigration
    }

    /// The fallback's id and the version.
    public var id: String { "\(fallbackMigration.id) before \(minAppVersion)" }
    /// The fallback's revision.
    public var revision: Int { fallbackMigration.revision }
    /// The fallback's sources.
    public var sources: [AnyStorageKey] { fallbackMigration.sources }
    /// The fallback's dependencies.
    public var dependencies: [String] { fallbackMigration.dependencies }
    /// The fallback's policy.
    public var conflictPolicy: MigrationConflictPolicy { fallbackMigration.conflictPolicy }
    /// The fallback's effect.
    public var effect: MigrationEffect { fallbackMigration.effect }
    /// The fallback's summary.
    public var summary: String { fallbackMigration.summary }

    /// Whether the fallback has something to do, an earlier version wrote its data, and the running app is not itself
    /// of an earlier version. An app without a version counts as the latest.
    ///
    /// - Throws: `conditionalMigrationFailed` if the version of the data is unknown, or either version is malformed.
    public func shouldMigrate(using router: any StorageProviding, context: MigrationContext) async throws -> Bool {
        try validate()
        guard try await fallbackMigration.shouldMigrate(using: router, context: context) else { return false }
        guard let text = context.dataVersion else {
            throw MigrationError(
                .conditionalMigrationFailed,
                "the version of the app that wrote the data for '\(destinationKey.domain)/\(destinationKey.name)' is "
                    + "unknown; set it: StorageConfiguration(dataVersion:) with updateStorageConfiguration in the app, or "
                    + "ld-host config set migrations.dataVersion VERSION")
        }
        guard let version = SemanticVersion(text), let minimum = SemanticVersion(minAppVersion) else {
            throw MigrationError(
                .conditionalMigrationFailed,
                "the data for '\(destinationKey.domain)/\(destinationKey.name)' was written by version '\(text)', which "
                    + "is not a semantic version such as 2.0.0")
        }
        guard version < minimum else { return false }
        guard let text = context.appVersion else { return true }
        guard let running = SemanticVersion(text) else {
            throw MigrationError(
                .conditionalMigrationFailed,
                "the version of the running app, '\(text)', is not a semantic version such as 2.0.0; set it: "
                    + "StorageConfiguration(appVersion:) with updateStorageConfiguration in the app, or "
                    + "ld-host config set app.version VERSION")
        }
        return minimum <= running
    }

    /// Runs the fallback. Its results count as data of this step's version, unless the fallback declares another.
    public func migrate(
        using router: any StorageProviding, context: MigrationContext
    ) async throws -> MigrationResult {
        let result = try await fallbackMigration.migrate(using: router, context: context)
        return MigrationResult(
            success: result.success, migratedCount: result.migratedCount, errors: result.errors,
            metadata: result.metadata.merging(["dataVersion": .init(.string(minAppVersion))]) { first, _ in first },
            duration: result.duration, outcome: result.outcome)
    }

    /// Checks that the version is well formed, and that the fallback is valid and has the same destination.
    public func validate() throws(MigrationError) {
        guard SemanticVersion(minAppVersion) != nil else {
            throw MigrationError(
                .validationFailed, "'\(minAppVersion)' in the migration '\(id)' is not a semantic version such as 2.0.0"
            )
        }
        let other = fallbackMigration.destinationDescriptor
        guard other.domain == destinationKey.domain, other.name.hasBytes(of: destinationKey.name) else {
            throw MigrationError(
                .validationFailed,
                "the migration '\(id)' is for '\(destinationKey.domain)/\(destinationKey.name)', and its fallback is for "
                    + "'\(other.domain)/\(other.name)'")
        }
        try fallbackMigration.validate()
    }
}

/// A migration that depends on more than its sources: a version, the device, a preference. The protocol only marks such
/// a migration; `shouldMigrate(using:context:)` decides.
public protocol ConditionalMigration: StorageMigration {}

/// A version, ordered as in https://semver.org/spec/v2.0.0.html: `2.0.0-beta.1` precedes `2.0.0`. Minor and patch are
/// optional: `2.0` is `2.0.0`.
public struct SemanticVersion: Hashable, Sendable {
    private enum Identifier: Hashable {
        case number(String)
        case text(String)
    }

    // Digits without leading zeros, so that a number of any size keeps its order.
    private let numbers: [String]
    private let prerelease: [Identifier]

    /// Reads a version; `nil` if the text is malformed. Build metadata after `+` is checked and ignored.
    public init?(_ text: String) {
        let parts = text.split(separator: "+", maxSplits: 1, omittingEmptySubsequences: false)
        if parts.count == 2 {
            let metadata = parts[1].split(separator: ".", omittingEmptySubsequences: false)
            guard metadata.allSatisfy(Self.isIdentifier) else { return nil }
        }
        let halves = parts[0].split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        let numbers = halves[0].split(separator: ".", omittingEmptySubsequences: false)
        guard (1...3).contains(numbers.count), numbers.allSatisfy(Self.isNumber) else { return nil }
        self.numbers = numbers.map(String.init) + Array(repeating: "0", count: 3 - numbers.count)
        guard halves.count == 2 else {
            prerelease = []
            return
        }
        var identifiers: [Identifier] = []
        for part in halves[1].split(separator: ".", omittingEmptySubsequences: false) {
            guard Self.isIdentifier(part) else { return nil }
            if part.utf8.allSatisfy(Self.isDigit) {
                guard Self.isNumber(part) else { return nil }
                identifiers.append(.number(String(part)))
            } else {
                identifiers.append(.text(String(part)))
            }
        }
        prerelease = identifiers
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func isNumber(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy(isDigit) && (text.utf8.count == 1 || text.utf8.first != UInt8(ascii: "0"))
    }

    private static func isIdentifier(_ text: Substring) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy {
                switch $0 {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"):
                    true
                default: isDigit($0)
                }
            }
    }
}

extension SemanticVersion: Comparable {
    /// Precedence, section 11 of the specification.
    public static func < (left: SemanticVersion, right: SemanticVersion) -> Bool {
        for (left, right) in zip(left.numbers, right.numbers) where left != right {
            return isLess(left, right)
        }
        // A version with a pre-release precedes the one without.
        guard !left.prerelease.isEmpty, !right.prerelease.isEmpty else {
            return !left.prerelease.isEmpty && right.prerelease.isEmpty
        }
        for (left, right) in zip(left.prerelease, right.prerelease) where left != right {
            switch (left, right) {
            case (.number(let left), .number(let right)): return isLess(left, right)
            case (.number, .text): return true
            case (.text, .number): return false
            case (.text(let left), .text(let right)): return left.utf8.lexicographicallyPrecedes(right.utf8)
            }
        }
        return left.prerelease.count < right.prerelease.count
    }

    private static func isLess(_ left: String, _ right: String) -> Bool {
        (left.utf8.count, left) < (right.utf8.count, right)
    }
}

extension SemanticVersion: CustomStringConvertible {
    /// The version in full, without build metadata.
    public var description: String {
        let suffix = prerelease.map {
            switch $0 {
            case .number(let text), .text(let text): text
            }
        }
        return numbers.joined(separator: ".") + (suffix.isEmpty ? "" : "-" + suffix.joined(separator: "."))
    }
}
