internal import ByteCoding
internal import FoundationEssentials
internal import LocalDataAPI

extension MigrationTransaction {
    /// One value that the migration has looked at or changes.
    struct Entry: Sendable {
        enum Change: Sendable {
            case set(Data)
            case removal
            /// The large value of another key; its size in bytes.
            case copy(of: AnyStorageKey, size: Int)

            /// Whether a value exists after the change.
            var isSet: Bool {
                switch self {
                case .set, .copy: true
                case .removal: false
                }
            }
        }

        /// The attributes that a migration gives a value that it sets.
        struct Recorded: Sendable {
            let versionTag: String?
        }

        /// The attributes that a key gives its values.
        struct Setter: Sendable {
            let descriptor: StorageKeyDescriptor
            let attributes: ValueAttributes?
        }

        let key: AnyStorageKey
        private(set) var resolved: ResolvedKey
        /// The bytes in the store when they were first asked for.
        var stored: Data?
        /// The size of what is there, if its bytes are too many to have been asked for.
        var largeSize: Int?
        /// The result of migrations that are planned before this one.
        var planned: Change?
        var change: Change?
        /// The attributes of the new value, if the migration gives any.
        var recorded: Recorded?
        /// The key that the value is set by, which may say more about it than the one that was looked at first.
        var setter: Setter?

        /// Whether a value exists.
        var isStored: Bool { largeSize != nil || stored != nil }

        /// Whether a value is removed.
        var isRemoved: Bool { if case .removal? = change { isStored } else { false } }

        /// The hash of these bytes.
        var mark: UInt64? { stored.map { StableHash.of($0) } }

        /// The size of what is there before the migration, in bytes; `nil` for nothing.
        var sizeBefore: Int? {
            switch planned {
            case .set(let data): data.count
            case .copy(_, let size): size
            case .removal: nil
            case nil: stored?.count ?? largeSize
            }
        }
    }
}

/// What publishing a change needs. Calls may wait, unless they are `async`.
extension MigrationTransaction.Entry {
    /// The entry with the key material of the app's providers at hand.
    ///
    /// - Parameter isMove: Whether the value is moved in pieces; otherwise one that is removed may do without material.
    func unlocked(forMove isMove: Bool) async throws(StorageError) -> Self {
        var entry = self
        do throws(StorageError) { entry.resolved = try await resolved.unlocked() } catch {
            if isMove || change?.isSet == true { throw error }
        }
        return entry
    }

    /// Whether the migration has another version tag recorded with the same bytes.
    func isRecordedAnew() throws(StorageError) -> Bool {
        guard let recorded, resolved.attributes != nil else { return false }
        return try resolved.readAttributes()?.versionTag != recorded.versionTag
    }

    /// The destination of a value. What a pack moves as it is, without saying its format, keeps all that is recorded
    /// with it. What is made of values that expire does so with the first of them.
    func target(_ data: Data, among entries: [Self]) throws(StorageError) -> ResolvedKey {
        let target = try unexpiringTarget(data, among: entries)
        guard target.attributes?.expires == nil, let expires = try expiry(among: entries) else { return target }
        return try target.writing(target.attributes(expires: expires))
    }

    /// When the first of the values expires that the migration has removed, or else the one that this replaces; `nil`
    /// if never.
    func expiry(among entries: [Self]) throws(StorageError) -> Int64? {
        let removed = entries.filter(\.isRemoved)
        let sources =
            removed.isEmpty ? entries.filter { $0.isStored && $0.resolved.target == resolved.target } : removed
        var first: Int64?
        for source in sources {
            guard source.resolved.store.abilities.expiry != nil,
                let expires = try source.resolved.readAttributes(deriving: false)?.expires
            else { continue }
            first = min(first ?? expires, expires)
        }
        return first
    }

    private func unexpiringTarget(_ data: Data, among entries: [Self]) throws(StorageError) -> ResolvedKey {
        let (descriptor, isKept) = (setter?.descriptor ?? key.descriptor, self.resolved.attributes != nil)
        let attributes = setter?.attributes ?? self.resolved.attributes
        let resolved = isKept ? try self.resolved.writing(attributes) : self.resolved
        if let recorded { return try resolved.writing(versionTag: recorded.versionTag) }
        // Keys of an app say whose they are.
        guard descriptor.serializer == .data, descriptor.owner.isEmpty, isKept else { return resolved }
        for source in entries where source.isRemoved {
            guard let stored = source.stored, try source.resolved.opening(stored) == data,
                let recorded = try source.resolved.readAttributes()?.kept, recorded.format != nil
            else { continue }
            return try resolved.writing(recorded)
        }
        return resolved
    }
}
