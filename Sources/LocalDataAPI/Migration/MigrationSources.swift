internal import FoundationEssentials

/// What the sources of an aggregating migration have: the values in the order of the sources, and each by its key.
/// Sources without data are left out of the list.
public struct MigrationSources: RandomAccessCollection, Sendable {
    /// A source that has data.
    struct Source: Sendable {
        let key: AnyStorageKey
        let data: Data
        let value: AnyCodable
    }

    private let found: [Source]

    init(_ found: [Source]) { self.found = found }

    /// 0.
    public var startIndex: Int { 0 }
    /// How many sources have data.
    public var endIndex: Int { found.count }
    /// A source's value, whatever its type.
    public subscript(position: Int) -> AnyCodable { found[position].value }

    /// The names of the sources that have data.
    public var names: [String] { found.map(\.key.descriptor.name) }

    /// The value of a key, or `nil` if it has none or is no source.
    ///
    /// - Throws: `deserializationFailed` or `unsupported` if the source's value is none of the key's.
    public func value<Value>(of key: StorageKey<Value>) throws(StorageError) -> Value? {
        let source = found.first { $0.key.descriptor.domain == key.domain && $0.key.descriptor.name == key.name }
        return try source.map { (source) throws(StorageError) in try key.serializer.decode(source.data) }
    }
}
