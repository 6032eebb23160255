internal import HostGround
internal import HostPlugins
package import LocalDataAPI

/// What a batch has staged in a store, and no journal knows: the record of the batch is lost. Whether it was decided,
/// and which of its values are in place, is not known any more.
package struct AbandonedBatch: Sendable {
    let open: OpenStore
    let place: StorageNamespace
    let id: IntentID
    /// The names of the staged changes.
    let names: [String]

    /// What to say of it.
    package var text: String {
        "store '\(open.name)' has \(names.count.counted("staged change")) of a batch of \(UTCTime.text(id.created)) whose "
            + "record is lost: some of the batch's values may be in place, and others not"
    }

    /// What to do about it.
    package var hint: String {
        "look at the values that programs stored at that time, and set them again if need be; then: ld-host store forget "
            + "\(open.name) --batches"
    }

    /// Finds them in some scopes. May wait.
    static func find(
        in scopes: [(open: OpenStore, directory: String?)], _ settings: HostSettings
    ) throws(StorageError) -> [AbandonedBatch] {
        var found: [AbandonedBatch] = []
        for (open, directory) in scopes where open.store.abilities.enumeration != nil {
            let place = StagedPlace.namespace(directory)
            var names: [IntentID: [String]] = [:]
            try open.store.forEachName(in: place) { name in
                if let id = StagedPlace.batch(of: name) { names[id, default: []].append(name) }
                return true
            }
            for (id, names) in names.sorted(by: { $0.key < $1.key }) {
                found.append(AbandonedBatch(open: open, place: place, id: id, names: names))
            }
        }
        guard !found.isEmpty else { return [] }
        // Read last: what was staged and has no entry by now is abandoned, or its batch has just ended.
        let survey = try BatchIntent.journal(settings).survey()
        let known = Set(survey.pending.map(\.id))
        guard survey.unreadable.isEmpty else { return [] }
        var abandoned: [AbandonedBatch] = []
        for batch in found where !known.contains(batch.id) {
            if try batch.isStillThere() { abandoned.append(batch) }
        }
        return abandoned
    }

    private func isStillThere() throws(StorageError) -> Bool {
        guard let first = names.first else { return false }
        let handle = HeldHandle(open.store, try open.store.resolve(StorageAddress(place, name: first)))
        return try withExtendedLifetime(handle) { () throws(StorageError) in try open.store.exists(handle.handle) }
    }

    /// Finds them in a store, and in the folders that its domains are known to have. May wait.
    package static func find(in open: OpenStore, _ snapshot: RouterSnapshot) throws(StorageError) -> [AbandonedBatch] {
        var folders: Set<String?> = [nil]
        for domain in snapshot.settings.routes.keys {
            for place in snapshot.knownPlaces(of: domain, in: open).keys { folders.insert(place.directory) }
        }
        return try find(in: folders.map { (open, $0) }, snapshot.settings)
    }

    /// Warns of those where a batch is about to stage its own changes.
    static func warn(of scopes: [AtomicScope], _ snapshot: RouterSnapshot) {
        // One that cannot be listed is reported by what stages there.
        let found = try? find(in: scopes.map { ($0.open, $0.directory) }, snapshot.settings)
        for batch in found ?? [] { snapshot.log(.warning, "batch", "\(batch.text); see: ld-host doctor") }
    }

    /// Removes what was staged. The values stay as they are.
    package func discard() throws(StorageError) {
        for name in names {
            let handle = HeldHandle(open.store, try open.store.resolve(StorageAddress(place, name: name)))
            _ = try withExtendedLifetime(handle) { () throws(StorageError) in try open.store.remove(handle.handle) }
        }
    }
}
