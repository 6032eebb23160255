internal import HostGround
internal import HostPlugins
internal import HostSealing
internal import LocalDataAPI

/// Moves encrypted values to their domain's own folder. They used to be in the folder that the user names, beside the
/// plain domain's values. Calls may wait.
struct FolderAdoption: Sendable {
    let snapshot: RouterSnapshot
    /// The store that serves the encrypted domain.
    let open: OpenStore
    let place: StorageNamespace
    let former: [StorageNamespace]
    let security: SecurityPolicy

    /// `nil` if there is nothing to move: for all but encrypted domains in a user's own folder.
    init?(_ domain: StorageDomain, security: SecurityPolicy, in open: OpenStore, _ snapshot: RouterSnapshot) {
        former = snapshot.settings.formerPlaces(of: domain)
        guard !former.isEmpty, let place = try? snapshot.settings.place(of: domain) else { return nil }
        self.place = place
        self.snapshot = snapshot
        self.open = open
        self.security = security
    }

    /// Moves one value, if it exists and its new location is empty. A value that does not open, or may belong to
    /// another domain, stays, and so does one that changes meanwhile. Nothing is removed before the copy was read back.
    func adopt(_ name: String) throws(StorageError) {
        for namespace in former {
            let old = StorageAddress(namespace, name: name)
            guard let handle = try? HeldHandle(open.store, open.store.resolve(old)), try isEnvelope(handle),
                let source = value(at: old), let target = value(at: StorageAddress(place, name: name)),
                try !target.store.exists(target.handle)
            else { continue }
            do throws(StorageError) {
                guard let attributes = try source.attributes() else { continue }
                let move = LargeMove(source: source, destination: target)
                try move.copy(attributes: attributes.kept, keeping: true)
                guard try move.removeSource(in: open) else { continue }
                snapshot.log(.info, "folders", "'\(old)' was moved to the folder of its domain")
            } catch {
                guard [.cannotOpen, .busy, .notFound].contains(error.code) else { throw error }
                snapshot.log(.warning, "folders", "'\(old)' stays in '\(namespace.scope)': \(error.message)")
            }
        }
    }

    /// Moves all values.
    func adoptAll() throws(StorageError) {
        guard open.store.abilities.enumeration != nil else { return }
        for namespace in former {
            var names: [String] = []
            try open.store.forEachName(in: namespace) {
                names.append($0)
                return true
            }
            for name in names { try adopt(name) }
        }
    }

    /// The number of values that would be moved. Moves none.
    func count() throws(StorageError) -> Int {
        guard open.store.abilities.enumeration != nil else { return 0 }
        var names: Set<String> = []
        for namespace in former {
            try open.store.forEachName(in: namespace) {
                names.insert($0)
                return true
            }
        }
        var count = 0
        for name in names where try isToBeBrought(name) { count += 1 }
        return count
    }

    private func isToBeBrought(_ name: String) throws(StorageError) -> Bool {
        let target = HeldHandle(open.store, try open.store.resolve(StorageAddress(place, name: name)))
        guard try !open.store.exists(target.handle) else { return false }
        for namespace in former {
            let handle = HeldHandle(open.store, try open.store.resolve(StorageAddress(namespace, name: name)))
            // A value of the plain domain may be an envelope too, due to its key's policy.
            if try isEnvelope(handle), opens(StorageAddress(namespace, name: name)) { return true }
        }
        return false
    }

    private func opens(_ address: StorageAddress) -> Bool {
        guard let value = value(at: address) else { return false }
        return (try? value.attributes(deriving: false)) != nil
    }

    private func value(at address: StorageAddress) -> SealedValue? {
        guard case .layers(let layers) = snapshot.protection(of: security, at: address, in: open).outcome else {
            return nil
        }
        return try? SealedValue(at: address, in: open, layers: layers)
    }

    private func isEnvelope(_ handle: HeldHandle) throws(StorageError) -> Bool {
        var found = false
        _ = try open.repeating { () throws(StorageError) in
            try open.store.read(handle.handle) { piece in
                found = piece.starts(with: EnvelopeHeader.magic)
                return false
            }
        }
        return found
    }
}

extension StoreAccess {
    /// Moves an encrypted value to its domain's own folder before it, or a plain one of the same name, is used.
    func adopt(_ key: KeyReference) async throws(StorageError) {
        let isEncrypted: Bool
        let domain: StorageDomain
        switch key.domain {
        case .encryptedFileSystem(let directory):
            (isEncrypted, domain) = (true, .encryptedFileSystem(directory: directory))
        case .fileSystem(let directory): (isEncrypted, domain) = (false, .encryptedFileSystem(directory: directory))
        default: return
        }
        guard key.place == nil, !snapshot.settings.formerPlaces(of: domain).isEmpty,
            isEncrypted || snapshot.settings.routes[domain.name] != nil
        else { return }
        let open: OpenStore
        do throws(StorageError) { open = try await openStore(for: domain.name) } catch {
            guard isEncrypted else { return }
            throw error
        }
        let security = isEncrypted ? key.security : .recommended
        guard let adoption = FolderAdoption(domain, security: security, in: open, snapshot) else { return }
        try await onIOThread { () throws(StorageError) in try adoption.adopt(key.name) }
    }
}
