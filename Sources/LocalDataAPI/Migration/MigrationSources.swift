#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The values of an aggregating migration's sources, in the order of the sources and by key. Sources without data are
/// left out.
public struct MigrationSources: RandomAccessCollection, Sendable {
    /// A source that has data.
    struct Source: Sendable {
        let key: AnyStorageKey
        let data: Data
        let value: AnyCodable
    }

    private let found: [Source]

    init(_ found: [Source]) { self.found = found }

    /// Always 0.
    public var startIndex: Int { 0 }
    /// How many sources have data.
    public var endIndex: Int { found.count }
    /// A source's value, whatever its type.
    public subscript(position: Int) -> AnyCodable { found[position].value }

    /// The names of the sources that have data.
    public var names: [String] { found.map(\.key.descriptor.name) }

    /// The value of a key, or `nil` if it has no value or is not a source.
    ///
    /// - Throws: `deserializationFailed` or `unsupported` if the source's value is of another type.
    public func value<Value>(of key: StorageKey<Value>) throws(StorageError) -> Value? {
        let source = found.first { $0.key.descriptor.domain == key.domain && $0.key.descriptor.name == key.name }
        return try source.map { (source) throws(StorageError) in try key.decode(source.data) }
    }
}
