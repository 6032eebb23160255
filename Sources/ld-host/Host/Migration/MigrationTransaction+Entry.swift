internal import ByteCoding
internal import FoundationEssentials
internal import HostGround
internal import HostPlugins
internal import HostStores
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

        /// What a value that a migration sets was before.
        enum Origin: Equatable, Sendable {
            case unknown
            /// It is new.
            case none
            /// The value that is stored here.
            case moved(ResolvedKey.Target)
            /// The value that is stored here, or a change of the one that it replaces; nothing tells.
            case replaced(ResolvedKey.Target)
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
        /// Whether the migration has read the stored value, so that others may be made of it.
        var isRead = false
        /// What the new value was before, as far as the migration has said so.
        var origin = Origin.unknown
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

    /// The destination of a value. What is moved as it is, without a format of its own, keeps all that is recorded with
    /// it.
    func target(among entries: [Self]) throws(StorageError) -> ResolvedKey {
        let target = try unexpiringTarget(among: entries)
        guard target.attributes?.expires == nil, let expires = try expiry(among: entries) else { return target }
        return try target.writing(target.attributes(expires: expires))
    }

    /// When a new value expires; `nil` if never. One that is moved does so as before. One that is made of all that the
    /// migration reads and removes, and of what it replaces, does so with the last of these, if all of them expire:
    /// nothing goes earlier than without the migration.
    func expiry(among entries: [Self]) throws(StorageError) -> Int64? {
        let moved = entries.compactMap(\.source)
        switch origin {
        case .none: return nil
        case .moved(let place):
            return try Self.lastExpiry(of: entries.filter { $0.isStored && $0.resolved.target == place })
        case .replaced(let place):
            let places = [place, resolved.target]
            return try Self.lastExpiry(of: entries.filter { $0.isStored && places.contains($0.resolved.target) })
        case .unknown:
            let removed = entries.filter { $0.isRemoved && $0.isRead && !moved.contains($0.resolved.target) }
            let own = entries.filter { $0.isStored && $0.resolved.target == resolved.target }
            return try Self.lastExpiry(of: removed + own)
        }
    }

    /// The place of the value that this one was; `nil` if it was none, or that is not known.
    private var source: ResolvedKey.Target? { if case .moved(let place) = origin { place } else { nil } }

    /// When the last of some stored values expires; `nil` if one never does.
    private static func lastExpiry(of sources: [Self]) throws(StorageError) -> Int64? {
        var last: Int64?
        for source in sources {
            guard source.resolved.store.abilities.expiry != nil,
                let expires = try source.resolved.readAttributes(deriving: false)?.expires
            else { return nil }
            last = max(last ?? expires, expires)
        }
        return last
    }

    private func unexpiringTarget(among entries: [Self]) throws(StorageError) -> ResolvedKey {
        let (isKept, attributes) = (self.resolved.attributes != nil, setter?.attributes ?? self.resolved.attributes)
        let resolved = isKept ? try self.resolved.writing(attributes) : self.resolved
        if let recorded { return try resolved.writing(versionTag: recorded.versionTag) }
        guard isPlain, isKept, let source = entries.first(where: { $0.isStored && $0.resolved.target == self.source }),
            let recorded = try source.resolved.readAttributes()?.kept, recorded.format != nil
        else { return resolved }
        return try resolved.writing(recorded)
    }

    /// Whether the value is set as bytes. Keys of an app say whose they are.
    private var isPlain: Bool {
        let descriptor = setter?.descriptor ?? key.descriptor
        return descriptor.serializer == .data && descriptor.owner.isEmpty
    }

    /// The entries with origins: what a migration sets as bytes that it has read and removes elsewhere is moved. What
    /// it sets to the bytes of another value that it replaces may be. Of several with the same bytes, the one that it
    /// looked at first is moved first.
    ///
    /// - Parameter new: The address of a value that is new, whatever the migration removes.
    static func settlingOrigins(_ entries: [Self], new: String?) -> [Self] {
        var entries = entries
        let moved = Set(entries.compactMap(\.source))
        var (removed, replaced): ([Data: [ResolvedKey.Target]], [Data: [ResolvedKey.Target]]) = ([:], [:])
        for entry in entries where entry.isRead && entry.change != nil && !moved.contains(entry.resolved.target) {
            // What cannot be opened is not moved.
            guard let stored = entry.stored, let data = try? entry.resolved.opening(stored) else { continue }
            if entry.isRemoved {
                removed[data, default: []].append(entry.resolved.target)
            } else {
                replaced[data, default: []].append(entry.resolved.target)
            }
        }
        for index in entries.indices where entries[index].origin == .unknown {
            let entry = entries[index]
            guard case .set(let data)? = entry.change else { continue }
            if "\(entry.resolved.address)" == new {
                entries[index].origin = .none
            } else if entry.isPlain, let place = take(data, from: &removed) {
                entries[index].origin = .moved(place)
            } else if let place = take(data, from: &replaced), place != entry.resolved.target {
                entries[index].origin = .replaced(place)
            }
        }
        return entries
    }

    /// The first place with these bytes; the last one stays, since it may have been copied.
    private static func take(
        _ data: Data, from places: inout [Data: [ResolvedKey.Target]]
    ) -> ResolvedKey.Target? {
        guard let found = places[data] else { return nil }
        if found.count > 1 { places[data] = Array(found.dropFirst()) }
        return found[0]
    }
}
