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
                    throw MigrationError(.finalTypeMismatch, "a \(type(of: value)) came where a \(From.self) belongs")
                }
                return try await converter(value)
            }
            return self
        }

        /// Says which version bytes are that were stored without a version tag, if that cannot be seen: when a later
        /// version has added only optional members, or in a format without a structure.
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
