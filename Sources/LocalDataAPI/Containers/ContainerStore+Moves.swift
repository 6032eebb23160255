#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Moving values without decoding them.
extension ContainerStore {
    /// Moves a value to another key; an absent one is fine.
    ///
    /// - Throws: `conflict` naming both keys if the other one has a value.
    public func rename(_ old: ContainerKey, to new: ContainerKey) async throws { try await renameAll([(old, new)]) }

    /// Moves values to other keys, all at once: `[("a", "b"), ("b", "a")]` swaps two. Absent values are fine.
    ///
    /// - Throws: `conflict` if a key is named twice on one side, or if a value that stays would be replaced; then
    ///   nothing is moved. It names both keys.
    public func renameAll(_ renames: [(ContainerKey, ContainerKey)]) async throws {
        var moves: [(from: String, to: String)] = []
        for (old, new) in renames {
            moves.append(try await names(moving: storedKey(try allowed(old)), to: storedKey(try allowed(new))))
        }
        trace.rename(moves, by: text)
        try await ContainerMove(moves.map { (container.key($0.from), container.key($0.to)) }).make(in: self)
    }

    /// The stored keys of a move. If the new one has a module in it, it is the container's own, and the old one is
    /// taken without its module, too, unless something is stored under it as it is.
    private func names(
        moving old: String, to new: String, isBranch: Bool = false
    ) async throws -> (from: String, to: String) {
        guard let own = scheme.withoutModule(new) else { return (try await name(reading: .stored(old)), new) }
        if try await transaction.exists(container.key(old)) { return (old, own) }
        let isBranch = isBranch ? try await !names(prefix: "\(old).").isEmpty : false
        return (isBranch ? old : scheme.droppingModule(old) ?? old, own)
    }

    /// Moves all values whose stored keys begin with a prefix. Those of other containers stay where they are, and so do
    /// all versions.
    ///
    /// A container counts as another one if it is open, or named in `except`, or if its version is stored under the
    /// default key `<prefix><name>.__version`, unless the move takes that key to the container's own version key.
    ///
    /// - Throws: `conflict` naming both keys if a value that stays would be replaced; then nothing is moved.
    ///   `validationFailed` if the old prefix is empty: that would take the whole store.
    public func movePrefix(
        _ old: String, to new: String, except: [any UserDefaultsContainer.Type] = []
    ) async throws {
        guard !old.isEmpty else {
            throw failure("moves the empty prefix, which is that of every key in the store; name the keys instead")
        }
        guard old != new else { return }
        try await move(.prefix(old, to: new), except: except)
    }

    /// Moves the value of a stored key and all whose keys begin with it and a dot: a module, or a container.
    func moveBranch(_ old: String, to new: String) async throws {
        let (old, new) = (Self.withoutDot(old), Self.withoutDot(new))
        guard !old.isEmpty, !new.isEmpty else { throw failure("moves a module or container without a name") }
        guard old != new else { return }
        let (from, to) = try await names(moving: old, to: new, isBranch: true)
        guard from != to else { return }
        try await move(.branch(from, to: to), except: [])
    }

    private static func withoutDot(_ name: String) -> String { name.hasSuffix(".") ? String(name.dropLast()) : name }

    private func move(_ shift: ContainerShift, except: [any UserDefaultsContainer.Type]) async throws {
        probe?.note(shift, by: from)
        let foreign = try await foreignKeys(in: shift, except: except)
        let moves = try await names(prefix: shift.oldPrefix).filter { !foreign($0) }.compactMap { name in
            shift.destination(of: name).map { (from: name, to: $0) }
        }
        trace.shift(shift)
        // A key that is named alone is to be that of a setting.
        if case .branch(let old, let new) = shift, moves.contains(where: { $0.from == old }) {
            trace.write(new, by: text)
        }
        try await ContainerMove(moves.map { (container.key($0.from), container.key($0.to)) }).make(in: self)
    }

    /// Which keys below a prefix are those of other containers.
    private func foreignKeys(
        in shift: ContainerShift, except: [any UserDefaultsContainer.Type]
    ) async throws -> (String) -> Bool {
        let prefix = shift.oldPrefix
        var known = others.filter { $0.store == container.store && $0.name != container.name }
        for type in except { known.append(definition(of: type)) }
        let own = formerVersionNames.union([container.versionKey.name])
        let ending = ContainerVersionKey.container("").name
        // A version stored for '<prefix>Cache' says whose '<prefix>Cache.size' is. The version of this container itself
        // was below the old prefix, too.
        let names: [String] = try await transaction.names(in: container.store, prefix: prefix)
        let versions = names.filter { name in
            name.hasSuffix(ending) && !own.contains(name) && !(shift.destination(of: name).map(own.contains) ?? false)
        }
        let owners: [String] = versions.map { "\($0.dropLast(ending.count))." }
        let former = Set(container.formerNames.map { "\(container.prefix)\($0)." }).union([container.derivedPrefix])
        let stored = owners.filter { $0.utf8.count > prefix.utf8.count && !former.contains($0) }
        return { key in known.contains { $0.owns(key) } || stored.contains { key.utf8.starts(with: $0.utf8) } }
    }
}

/// Moving values between containers, for a split or a merge.
extension ContainerStore {
    /// Moves a value to a setting of another container, which may be in another place: a split.
    ///
    /// If the other container has no version yet, its data gets the given one in the same transaction, so its own steps
    /// start there. It names this container in ``UserDefaultsContainer/migratesAfter``.
    ///
    /// - Parameters:
    ///   - name: The setting's name or key there; by default, the same as here.
    ///   - version: The version of the other container that has the setting so.
    /// - Throws: `conflict` naming both keys if the other one has a value; `validationFailed` if the other container's
    ///   data is of another version, or less protected.
    public func move(
        _ key: ContainerKey, to other: any UserDefaultsContainer.Type, as name: ContainerKey? = nil, version: Int = 1
    ) async throws {
        let target = definition(of: other)
        probe?.note(other: target)
        trace.take(try await self.name(reading: key))
        guard try await exists(key) else { return }
        let name = name ?? key
        guard !name.isStored || name != key || target.store != container.store else {
            throw failure("moves '\(key)' to the container '\(target.name)', but to the same key; say 'as:'")
        }
        switch try await ContainerVersion.first(
            of: target, ContainerChain(target, other.steps).formerVersionKeys, in: transaction)
        {
        case nil:
            let data = Data("\(version)".utf8)
            let key = target.key(target.versionKey.name, serializer: .json)
            try await transaction.setData(data, for: key)
            try await (transaction as? any MovingTransaction)?.setOrigin(of: key, to: nil)
        case let found?:
            guard found.number == version else {
                throw failure(
                    "moves '\(key)' to the container '\(target.name)' as of version \(version), whose data has version "
                        + "\(found.number); name '\(container.name)' in migratesAfter of '\(target.name)'")
            }
        }
        let destination = name.isStored ? name.text : target.keyFor(name.text)
        let source = try await self.name(reading: try allowed(key))
        try await ContainerMove([(container.key(source), target.key(destination))]).make(in: self)
    }

    /// Takes a value from a setting of another container, which may be in another place: a merge. Name that container
    /// in ``UserDefaultsContainer/migratesAfter``, so that its data has its current version.
    ///
    /// - Parameter name: The setting's name or key here; by default, the same as there.
    /// - Throws: `conflict` naming both keys if the one here has a value; `validationFailed` if it is less protected.
    public func take(
        _ key: ContainerKey, from other: any UserDefaultsContainer.Type, as name: ContainerKey? = nil
    ) async throws {
        let source = definition(of: other)
        probe?.note(other: source)
        let old = source.key(key.isStored ? key.text : source.keyFor(key.text))
        let new = self.name(writing: try allowed(name ?? key))
        trace.write(new, by: text)
        try await ContainerMove([(old, container.key(new))]).make(in: self)
    }

    /// Moves a value between places; an address `domain[:scope]/key` stands for a key in another place.
    func move(_ old: String, to new: String) async throws {
        let (from, to) = (try addressed(old), try addressed(new))
        if !Self.isAddress(old) { trace.take(from.descriptor.name) }
        if !Self.isAddress(new) { trace.write(to.descriptor.name, by: text) }
        try await ContainerMove([(from, to)]).make(in: self)
    }

    /// Whether a text is an address rather than a key of the container's store.
    static func isAddress(_ text: String) -> Bool { text.utf8.contains(UInt8(ascii: "/")) }

    private func addressed(_ text: String) throws -> AnyStorageKey {
        guard Self.isAddress(text) else {
            return container.key(storedKey(try allowed(ContainerKey(text))))
        }
        let descriptor = try StorageKeyDescriptor(address: text)
        guard !isVersion(descriptor.name) else { throw failure("changes '\(text)', which is reserved for versions") }
        return AnyStorageKey(
            StorageKeyDescriptor(
                name: descriptor.name, domain: descriptor.domain, security: descriptor.domain.ownPolicy,
                serializer: .data, owner: "", description: "of the container \(container.name)"))
    }

    /// The other container, in this one's place if both have the same by default.
    private func definition(of other: any UserDefaultsContainer.Type) -> ContainerDefinition {
        let own = others.first { $0.name == other.name && $0.prefix == other.prefix }
        if let own { return own }
        return ContainerDefinition(of: other, in: other.store == defaultStore ? container.store : nil)
    }
}

extension AnyStorageKey {
    /// The same key with another format of its bytes.
    func serialized(_ format: SerializerFormat) -> AnyStorageKey {
        AnyStorageKey(
            StorageKeyDescriptor(
                name: descriptor.name, domain: descriptor.domain, security: descriptor.security, serializer: format,
                owner: "", description: descriptor.description))
    }
}
