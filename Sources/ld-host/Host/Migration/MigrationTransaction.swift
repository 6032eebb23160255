internal import ByteCoding
internal import FoundationEssentials
internal import HostGround
internal import HostSealing
package import HostStores
internal import LocalDataAPI
internal import Synchronization

/// What a migration reads and writes: the stores as they are, with its own changes on top, which nobody else sees. It
/// runs no other migration, and keys need be in no catalog.
package final class MigrationTransaction: MovingTransaction {
    private struct State {
        var entries: [Entry] = []
        var indices: [ResolvedKey.Target: Int] = [:]
        var views: [AtomicScope: StoreView] = [:]
        var isOver = false
    }

    private let access: StoreAccess
    private let planned: PlannedChanges?
    private let keepsViews: Bool
    private let state = Mutex(State())

    /// - Parameters:
    ///   - planned: What is taken to be done already, if nothing is to be done at all.
    ///   - keepsViews: Whether changes will be based on what is read. A view begins a transaction in some stores, which
    ///     costs more than a look.
    package init(_ access: StoreAccess, over planned: PlannedChanges? = nil, keepsViews: Bool = true) {
        self.access = access
        self.planned = planned
        self.keepsViews = keepsViews
    }

    /// What was looked at and changed, in the order of the first look, and what all of it follows from; from now on
    /// every call is refused.
    func close() -> (entries: [Entry], views: [StoreView]) {
        state.withLock {
            $0.isOver = true
            return ($0.entries, Array($0.views.values))
        }
    }

    /// Forgets the changes.
    func discardChanges() {
        state.withLock { state in
            for index in state.entries.indices {
                (state.entries[index].change, state.entries[index].recorded) = (nil, nil)
                (state.entries[index].setter, state.entries[index].origin) = (nil, .unknown)
            }
        }
    }

    func data(for key: AnyStorageKey) async throws -> Data? {
        let entry = try await entry(for: key)
        switch entry.change ?? entry.planned {
        case .set(let data): return data
        case .removal: return nil
        case .copy(let source, _):
            guard let original = try await loaded(source).stored else { return nil }
            return try await loaded(source).resolved.opened(original)
        case nil:
            let entry = try await loaded(key)
            guard let stored = entry.stored else { return nil }
            state.withLock { state in
                if let index = state.indices[entry.resolved.target] { state.entries[index].isRead = true }
            }
            let data = try await entry.resolved.opened(stored)
            try entry.resolved.requireOpened(data)
            return try await entry.resolved.asJSON(data, for: key)
        }
    }

    /// - Throws: `deserializationFailed` if the destination's own serializer does not read the bytes again.
    func setData(_ data: Data, for key: AnyStorageKey) async throws {
        try key.check(data)
        _ = try await loaded(key)
        try await change(key, to: .set(data))
    }

    func setData(_ data: Data, versionTag: String?, for key: AnyStorageKey) async throws {
        try key.check(data, versionTag: versionTag)
        _ = try await loaded(key)
        try await change(key, to: .set(data), Entry.Recorded(versionTag: versionTag))
    }

    func names(in domain: StorageDomain, prefix: String) async throws -> [String] {
        var names = Set(try await access.names(in: domain, prefix: prefix, after: nil, limit: nil))
        let place = try access.snapshot.settings.place(of: domain)
        if let planned {
            let open = try await access.openStore(for: place.domain)
            for (name, isSet) in planned.changes(in: place, of: open) where name.utf8.starts(with: prefix.utf8) {
                if isSet { names.insert(name) } else { names.remove(name) }
            }
        }
        try state.withLock { state throws(StorageError) in
            try Self.check(state, "\(domain)")
            for entry in state.entries {
                let address = entry.resolved.address
                guard address.place == place, let change = entry.change ?? entry.planned else { continue }
                if !change.isSet {
                    names.remove(address.name)
                } else if address.name.utf8.starts(with: prefix.utf8) {
                    names.insert(address.name)
                }
            }
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// Of a value that the migration has set, what it will be recorded with. Of any other value, what is recorded now:
    /// another process may have written it since the migration read it. A caller that needs both to match compares the
    /// attributes before and after reading.
    func attributes(of key: AnyStorageKey) async throws -> ValueAttributes? {
        let resolved = try await access.resolveUnlisted(KeyReference(key))
        if let refusal = resolved.refusal { throw refusal }
        let known = try state.withLock { state throws(StorageError) in
            try Self.check(state, key.address)
            return state.indices[resolved.target].map { state.entries[$0] }
        }
        guard
            let entry = known ?? planned?.change(of: resolved).map({ Entry(key: key, resolved: resolved, planned: $0) })
        else {
            return try await resolved.storedAttributes()
        }
        switch entry.change ?? entry.planned {
        case .removal: return nil
        case .set(let data):
            var attributes = (entry.setter.map(\.attributes) ?? entry.resolved.attributes) ?? ValueAttributes()
            if let recorded = entry.recorded { attributes.versionTag = recorded.versionTag }
            attributes.size = UInt64(data.count)
            return attributes
        case .copy(let source, _): return try await loaded(source).resolved.storedAttributes()
        case nil: return entry.isStored ? try await entry.resolved.storedAttributes() : nil
        }
    }

    func remove(_ key: AnyStorageKey) async throws {
        _ = try await loaded(key)
        try await change(key, to: .removal)
    }

    /// Only the first and only change of a transaction is such a move: a store puts one large value in place by itself.
    func move(_ source: AnyStorageKey, to destination: AnyStorageKey) async throws -> Bool {
        let (from, to) = (try await entry(for: source), try await entry(for: destination))
        let isOnly = state.withLock { state in state.entries.allSatisfy { $0.change == nil } }
        guard let size = from.largeSize, from.planned == nil, isOnly, from.resolved.target != to.resolved.target else {
            return false
        }
        try await change(source, to: .removal)
        try await change(destination, to: .copy(of: source, size: size))
        try await setOrigin(of: destination, to: source)
        return true
    }

    func origin(of key: AnyStorageKey) async throws -> AnyStorageKey? {
        let entry = try await entry(for: key)
        switch entry.origin {
        case .unknown: return key
        case .none: return nil
        case .moved(let place), .replaced(let place):
            return state.withLock { state in state.indices[place].map { state.entries[$0].key } }
        }
    }

    func setOrigin(of key: AnyStorageKey, to source: AnyStorageKey?) async throws {
        let target = try await entry(for: key).resolved.target
        var origin = Entry.Origin.none
        if let source { origin = .moved(try await entry(for: source).resolved.target) }
        state.withLock { [origin] state in
            if let index = state.indices[target] { state.entries[index].origin = origin }
        }
    }

    /// Turns a move in pieces into changes of whole values if it is not the only thing that the migration does.
    func settleMoves() async throws {
        let changed = state.withLock { $0.entries.filter { $0.change != nil } }
        guard changed.count != 2 || RowChunk.Move(changed) == nil else { return }
        for entry in changed {
            var settled = try await loaded(entry.key)
            if case .copy? = entry.change { settled.change = try await data(for: entry.key).map { .set($0) } }
            state.withLock { state in
                if let index = state.indices[entry.resolved.target] { state.entries[index] = settled }
            }
        }
    }

    func exists(_ key: AnyStorageKey) async throws -> Bool {
        let entry = try await entry(for: key)
        switch entry.change ?? entry.planned {
        case .set, .copy: return true
        case .removal: return false
        case nil: return entry.isStored
        }
    }

    private func change(
        _ key: AnyStorageKey, to change: Entry.Change, _ recorded: Entry.Recorded? = nil
    ) async throws(StorageError) {
        let target = try await entry(for: key).resolved.target
        let attributes = try await access.resolveUnlisted(KeyReference(key)).attributes
        try state.withLock { state throws(StorageError) in
            try Self.check(state, key.address)
            guard let index = state.indices[target] else { return }
            state.entries[index].change = change
            state.entries[index].recorded = recorded
            // What is removed may have been moved on.
            if change.isSet { state.entries[index].origin = .unknown }
            state.entries[index].setter = Entry.Setter(descriptor: key.descriptor, attributes: attributes)
        }
    }

    private func entry(for key: AnyStorageKey) async throws(StorageError) -> Entry {
        let resolved = try await access.resolveUnlisted(KeyReference(key))
        let target = resolved.target
        let known = try state.withLock { state throws(StorageError) in
            try Self.check(state, key.address)
            return state.indices[target].map { state.entries[$0] }
        }
        if let known { return known }
        let size = try await largeSize(of: resolved)
        let entry = Entry(
            key: key, resolved: resolved, stored: size == nil ? try await stored(resolved) : nil, largeSize: size,
            planned: planned?.change(of: resolved))
        return state.withLock { state in
            // Of two first looks at once, one counts.
            if let index = state.indices[target] { return state.entries[index] }
            state.indices[target] = state.entries.count
            state.entries.append(entry)
            return entry
        }
    }

    /// The same with its bytes, whatever their number.
    private func loaded(_ key: AnyStorageKey) async throws(StorageError) -> Entry {
        let entry = try await entry(for: key)
        guard entry.largeSize != nil else { return entry }
        var whole = entry
        (whole.stored, whole.largeSize) = (try await stored(entry.resolved), nil)
        return state.withLock { [whole] state in
            guard let index = state.indices[entry.resolved.target], state.entries[index].largeSize != nil else {
                return whole
            }
            // A move of it stays one: it is put in place in pieces.
            if state.entries[index].change == nil { state.entries[index] = whole }
            return whole
        }
    }

    private func largeSize(of resolved: ResolvedKey) async throws(StorageError) -> Int? {
        if let refusal = resolved.refusal { throw refusal }
        return try await resolved.open.wait("looking at '\(resolved.address)'") { () throws(StorageError) in
            try LargeMove.largeSize(of: resolved)
        }
    }

    /// The bytes in the store, which have to be so still when the changes are made.
    private func stored(_ resolved: ResolvedKey) async throws(StorageError) -> Data? {
        guard keepsViews else { return try await resolved.stored() }
        if let refusal = resolved.refusal { throw refusal }
        let scope = resolved.scope
        return try await scope.open.wait("reading '\(resolved.address)'") { [self] () throws(StorageError) in
            let view = try state.withLock { state throws(StorageError) in
                if let view = state.views[scope] { return view }
                let view = try StoreView(scope)
                state.views[scope] = view
                return view
            }
            return try view.read(resolved)
        }
    }

    private static func check(_ state: borrowing State, _ what: String) throws(StorageError) {
        guard state.isOver else { return }
        throw StorageError(
            .unsupported,
            "'\(what)' was used after its migration had returned",
            hint: "let migrate(using:context:) return when all its work is done")
    }
}

extension ResolvedKey {
    /// - Throws: `securityApplicationFailed` for a value that is read as a plain one and is an envelope.
    func requireOpened(_ data: Data) throws(StorageError) {
        guard layers.isEmpty, data.withUnsafeBytes({ EnvelopeHeader.begins($0) }) else { return }
        throw StorageError.sealedOtherwise(address)
    }
}

extension StorageError {
    /// A value that a migration would take for a plain one, though its key's policy has sealed it. It opens at its
    /// address alone, so it is not moved as it is.
    static func sealedOtherwise(_ address: StorageAddress) -> StorageError {
        StorageError(
            .securityApplicationFailed, "'\(address)' is sealed, and the migration reads it as a plain value",
            hint: "give the key in the migration the security that its own key has")
    }
}
