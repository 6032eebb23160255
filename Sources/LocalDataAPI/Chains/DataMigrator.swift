#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Brings stored bytes of older versions of a type to the current one, by the shortest chain of converters.
///
/// ```swift
/// let builder = DataMigrator<UserSettingsV2>.Builder(targetType: UserSettingsV2.self)
/// builder.register(from: UserSettingsV1.self, to: UserSettingsV2.self) { v1 in
///     UserSettingsV2(theme: v1.theme, notifications: true)
/// }
/// let migrator = try builder.build()
/// let (data, wasMigrated) = try await migrator.migrate(data: oldData)
/// ```
///
/// The version tag, which a ``StorageKey`` with a migrator stores beside each value, identifies the version of the
/// bytes. Bytes without a tag belong to the version that decodes them. If several do, they belong to the one that reads
/// more of them than each other one, or as much and adds less to it. If none does, that is an error, unless
/// ``Builder/assumeUntagged(_:)`` says which one is meant.
public struct DataMigrator<TargetModel: Codable & Sendable & Equatable>: Sendable {
    let graph: ChainGraph
    /// The edge to take from each version.
    private let routes: [Int?]
    /// The version that bytes without a tag are taken for, where they do not show it.
    private let untagged: Int?
    /// Versions that bytes without a tag can never be told apart by: they have the same members. An app with bytes from
    /// before it had a migrator needs ``Builder/assumeUntagged(_:)`` for them. A router logs these once for a key.
    public let warnings: [String]

    init(_ graph: ChainGraph, untagged: Int?) throws(MigrationError) {
        self.graph = graph
        self.untagged = untagged
        routes = try graph.routes()
        warnings = untagged == nil ? graph.twins : []
    }

    /// The version tag of the current version.
    public var versionTag: String { graph.versions[0].tag }

    /// The version tags of all versions, the current one first.
    public var versionTags: [String] { graph.versions.map(\.tag) }

    /// Brings bytes in JSON to the current version.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - versionTag: The version that they are stored with; `nil` if it is not known.
    /// - Returns: The bytes of the current version, and whether they were of another.
    /// - Throws: `MigrationError`: `decodingFailed` if the bytes are of no version, `ambiguous` if they may be of
    ///   several, `newerVersion` for a tag that is not known, `pathNotFound` with `from` if no chain leads to the
    ///   current version, `transformationFailed` with what a converter threw, `incompatibleTypes` for a version that
    ///   needs a serializer of its own, `finalTypeMismatch` if the new bytes do
    ///   not read back as the value that they were made from.
    public func migrate(
        data: Data, versionTag: String? = nil
    ) async throws(MigrationError) -> (data: Data, wasMigrated: Bool) {
        let current = try await decode(data, versionTag: versionTag, .json)
        guard current.wasMigrated else { return (data, false) }
        return (try Self.encoded(current.value, .json), true)
    }
}

extension DataMigrator {
    /// The value in bytes in JSON, brought to the current version.
    ///
    /// - Throws: What ``migrate(data:versionTag:)`` throws, except `finalTypeMismatch`: the value is not encoded again.
    public func value(in data: Data, versionTag: String? = nil) async throws(MigrationError) -> TargetModel {
        try await decode(data, versionTag: versionTag, .json).value
    }
}

/// A value of the current version, read from stored bytes.
package struct ChainedValue<Value: Sendable>: Sendable {
    package let value: Value
    /// Whether the bytes were of another version.
    package let wasMigrated: Bool
}

extension DataMigrator {
    /// The value in stored bytes, brought to the current version.
    func decode(
        _ data: Data, versionTag: String?, _ serializer: Serializer<TargetModel>
    ) async throws(MigrationError) -> ChainedValue<TargetModel> {
        let coding = ChainCoding(serializer)
        let index = try version(of: data, versionTag: versionTag, serializer, coding)
        if index == 0 { return ChainedValue(value: try Self.decoded(data, serializer), wasMigrated: false) }
        var value = try read(data, index, coding)
        var position = index
        while position != 0 {
            guard let route = routes[position] else { throw pathNotFound(from: index) }
            value = try await converted(value, by: graph.edges[route])
            position = graph.edges[route].to
        }
        guard let target = value as? TargetModel else {
            throw MigrationError(
                .finalTypeMismatch,
                "the converters from \(graph.name(index)) ended in a type other than \(TargetModel.self)")
        }
        return ChainedValue(value: target, wasMigrated: true)
    }

    /// Throws if no version reads the bytes; runs no converter.
    func check(
        _ data: Data, versionTag: String?, _ serializer: Serializer<TargetModel>
    ) throws(MigrationError) {
        let coding = ChainCoding(serializer)
        let index = try version(of: data, versionTag: versionTag, serializer, coding)
        if index == 0 { _ = try Self.decoded(data, serializer) } else { _ = try read(data, index, coding) }
    }

    /// Reads bytes as the version with a number.
    private func read(
        _ data: Data, _ index: Int, _ coding: ChainCoding
    ) throws(MigrationError) -> any Sendable {
        let version = graph.versions[index]
        do throws(StorageError) { return try version.decode(data, coding) } catch {
            throw MigrationError(
                error.chainCode,
                "the bytes with the version '\(version.tag)' do not decode as \(graph.name(index)): \(error.message)",
                underlying: error)
        }
    }

    private func converted(
        _ value: any Sendable, by edge: ChainGraph.Edge
    ) async throws(MigrationError) -> any Sendable {
        do { return try await edge.convert(value) } catch {
            let reason = (error as? MigrationError)?.message ?? (error as? StorageError)?.message ?? "\(error)"
            // Another code would say that the bytes are at fault, and not the converter.
            throw MigrationError(
                .transformationFailed,
                "the converter from \(graph.name(edge.from)) to \(graph.name(edge.to)) failed: \(reason)",
                underlying: error as? StorageError)
        }
    }

    private func pathNotFound(from index: Int) -> MigrationError {
        let name = graph.name(index)
        return MigrationError(
            .pathNotFound, "no converters lead from \(name) to \(graph.name(0)); register what is missing",
            from: name)
    }

    /// The bytes of a value that converters have made.
    ///
    /// - Throws: `finalTypeMismatch` if they do not read back as the same value.
    static func encoded(
        _ value: TargetModel, _ serializer: Serializer<TargetModel>
    ) throws(MigrationError) -> Data {
        let data: Data
        do { data = try serializer.encode(value) } catch {
            throw MigrationError(.finalTypeMismatch, error.message, underlying: error)
        }
        guard try decoded(data, serializer) == value else {
            throw MigrationError(
                .finalTypeMismatch,
                "the converted value does not read back as the same \(TargetModel.self)")
        }
        return data
    }

    private static func decoded(
        _ data: Data, _ serializer: Serializer<TargetModel>
    ) throws(MigrationError) -> TargetModel {
        do { return try serializer.decode(data) } catch {
            throw MigrationError(.decodingFailed, error.message, underlying: error)
        }
    }
}

/// Finding the version of stored bytes.
extension DataMigrator {
    private func version(
        of data: Data, versionTag: String?, _ serializer: Serializer<TargetModel>, _ coding: ChainCoding
    ) throws(MigrationError) -> Int {
        if let versionTag {
            if let index = graph.versions.firstIndex(where: { $0.tag.hasBytes(of: versionTag) }) {
                return index
            }
            throw MigrationError(
                .newerVersion,
                "the stored value has the version '\(versionTag)', and this program knows "
                    + "\(versionTags.map { "'\($0)'" }.joined(separator: ", ")) of \(TargetModel.self); "
                    + "use the program that wrote it, or a later one")
        }
        // With one version there is nothing to tell apart, and what is no value of it fails to decode.
        guard graph.versions.count > 1 else { return 0 }
        return try untaggedVersion(of: data, serializer, coding)
    }

    private func untaggedVersion(
        of data: Data, _ serializer: Serializer<TargetModel>, _ coding: ChainCoding
    ) throws(MigrationError) -> Int {
        var (found, refusals): ([Int], [String]) = ([], [])
        for index in graph.versions.indices {
            do throws(StorageError) {
                // The key's own serializer may be one that no other type has.
                if index == 0 {
                    _ = try serializer.decode(data)
                } else {
                    _ = try graph.versions[index].decode(data, coding)
                }
                found.append(index)
            } catch {
                guard error.chainCode == .decodingFailed else {
                    throw MigrationError(error.chainCode, error.message, underlying: error)
                }
                refusals.append(error.message)
            }
        }
        guard let first = found.first else {
            throw MigrationError(
                .decodingFailed,
                "the bytes have no version, and none decodes them: \(refusals.joined(separator: "; "))")
        }
        return found.count == 1 ? first : try version(among: found, of: data, serializer, coding)
    }

    /// The version of bytes that several versions decode.
    private func version(
        among found: [Int], of data: Data, _ serializer: Serializer<TargetModel>, _ coding: ChainCoding
    ) throws(MigrationError) -> Int {
        var evidence: [Int: ChainEvidence] = [:]
        for index in found { evidence[index] = try? graph.versions[index].evidence(data, coding) }
        let strongest = found.first { index in
            guard let own = evidence[index] else { return false }
            return found.allSatisfy { other in
                other == index || evidence[other].map(own.isStronger(than:)) ?? false
            }
        }
        if let untagged, found.contains(untagged) {
            // What the app assumes of all its bytes must not lose members that a later version has written.
            guard let strongest, let own = evidence[strongest],
                evidence[untagged]?.onlyLoses(against: own) == true
            else { return untagged }
            return strongest
        }
        if let strongest { return strongest }
        let names = found.map { graph.name($0) }.joined(separator: " or ")
        guard evidence.count == found.count else {
            throw MigrationError(
                .ambiguous,
                "bytes in the format '\(serializer.format)' do not reveal whether their version is \(names), and none "
                    + "is stored with them; set it with assumeUntagged(_:)")
        }
        throw MigrationError(
            .ambiguous,
            "\(data.count) bytes without a version may be \(names); say which one with assumeUntagged(_:)")
    }
}

extension StorageError {
    /// What it means for a chain: a version that has no serializer says nothing about the bytes.
    fileprivate var chainCode: MigrationError.Code {
        code == .unsupported ? .incompatibleTypes : .decodingFailed
    }
}

extension DataMigrator {
    /// Collects the converters of a ``DataMigrator``.
    public final class Builder {
        private var graph: ChainGraph
        private var untagged: Int?

        /// Begins a chain.
        ///
        /// - Parameters:
        ///   - targetType: The current version.
        ///   - version: Its version tag; `nil` for ``VersionedValue/version`` or else the type's name.
        public init(targetType: TargetModel.Type, version: String? = nil) {
            graph = ChainGraph(target: ChainVersion(targetType, tag: version, nil))
        }

        /// Adds a converter from one version to another.
        ///
        /// - Parameters:
        ///   - from: The older version.
        ///   - to: The later one.
        ///   - version: The version tag of the older one; `nil` for ``VersionedValue/version`` or else its name.
        ///   - serializer: What reads the older one, if it is not stored in the key's own format.
        ///   - converter: Makes the later one. What it throws fails the migration, and the stored bytes stay.
        @discardableResult
        public func register<From: Codable & Sendable & Equatable, To: Codable & Sendable & Equatable>(
            from: From.Type, to: To.Type, version: String? = nil, serializer: Serializer<From>? = nil,
            converter: @escaping @Sendable (From) async throws -> To
        ) -> Builder {
            let old = graph.add(
                ChainVersion(from, tag: version, serializer), isNamed: version != nil || serializer != nil)
            let new = graph.add(ChainVersion(to, tag: nil, nil), isNamed: false)
            graph.connect(old, to: new) { value in
                guard let value = value as? From else {
                    throw MigrationError(.finalTypeMismatch, "found \(type(of: value)); expected \(From.self)")
                }
                return try await converter(value)
            }
            return self
        }

        /// Sets the version of bytes that were stored without a version tag, where they do not show it: when a later
        /// version has added only optional members, or in a format without a structure. Bytes that only other versions
        /// decode, or that have members which only a later version reads, are of these.
        @discardableResult
        public func assumeUntagged<Value: Codable & Sendable & Equatable>(_ type: Value.Type) -> Builder {
            untagged = graph.add(ChainVersion(type, tag: nil, nil), isNamed: false)
            return self
        }

        /// The chain.
        ///
        /// - Throws: `MigrationError`: `duplicateConverter`, `converterCycle`, or `ambiguous` for two versions with one
        ///   tag, and for two ways of the same length from one version to the current one.
        public func build() throws(MigrationError) -> DataMigrator {
            try DataMigrator(graph, untagged: untagged)
        }
    }
}
