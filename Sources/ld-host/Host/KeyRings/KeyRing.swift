internal import CLinux
internal import DurableFiles
internal import Glibc
package import LocalDataAPI
internal import Synchronization

/// Keys for sealing and opening, kept in a store and shared by all processes that use it.
///
/// - **First use.** The first key is created when something must be sealed under an empty ring. Of many processes that
///   come at once, one creates it. A ring that has disappeared is not created again.
/// - **Locations.** Before a value is sealed in a namespace, the ring records that namespace.
/// - **Changes.** A process that seals holds the ring's lock shared until the sealed value is stored. A process that
///   changes the ring, or re-encrypts a value under another key, holds it exclusively. So no value is stored under a
///   key that was removed meanwhile, and re-encryption never overwrites a newer value.
/// - **Order.** The holder of a ring's lock may take that of a ring which seals the first one's storage or the ring
///   itself: first the master ring's, then that of the value's store, then that of the keychain's store; never in
///   reverse. Of two master rings, the one whose `file` sorts first is locked first.
/// - **Machines** that share the store of a ring change the ring one at a time, by a lock of the store. They do not
///   lock each other out while they seal: see ``StorageRouter/retireKey(_:of:)``.
/// - **Reading** takes no lock. An unknown or disabled key is looked up once more in the stored ring.
package final class KeyRing: Sendable {
    /// How a ring is loaded and saved.
    package struct Storage: Sendable {
        /// Whether a saved ring still exists for the next process.
        let isLasting: Bool
        /// The stored ring, or `nil` if absent. May wait.
        let load: @Sendable () throws(StorageError) -> SecretBytes?
        /// Replaces the stored ring durably. May wait.
        let save: @Sendable (SecretBytes) throws(StorageError) -> Void
        /// The store that keeps it, if machines share that: then its lock excludes them, too.
        let sharedStore: LoadedStore?

        init(
            isLasting: Bool, in store: LoadedStore,
            load: @escaping @Sendable () throws(StorageError) -> SecretBytes?,
            save: @escaping @Sendable (SecretBytes) throws(StorageError) -> Void
        ) {
            (self.isLasting, self.load, self.save) = (isLasting, load, save)
            sharedStore = store.abilities.lock == nil ? nil : store
        }
    }

    private struct Known {
        let generation: UInt64
        let state: KeyRingState
    }

    /// For messages, e.g. `the key ring 'LocalData/master'`.
    package let name: String
    /// The ring's name in headers; `nil` for the rings that need none.
    let headerName: String?
    /// The path of its lock, without an extension: the same in all processes that share the ring.
    let file: String
    private let lock: FairLock
    private let storage: Storage
    private let patience: Duration
    private let keyLength: Int
    private let crypto: LoadedCrypto
    private let known = Mutex<Known?>(nil)

    /// - Parameters:
    ///   - keyLength: The size of a new key in bytes.
    ///   - patience: How long a use waits for others before it fails with `busy`.
    init(
        name: String, headerName: String?, file: String, keyLength: Int, crypto: LoadedCrypto,
        patience: Duration = .seconds(30), storage: Storage
    ) {
        self.name = name
        self.file = file
        self.headerName = headerName
        self.keyLength = keyLength
        self.crypto = crypto
        self.storage = storage
        self.patience = patience
        lock = FairLock("\(file).lock", patience: patience)
    }

    /// Lends the active key until `body` has stored what it sealed; creates the first key of an empty ring. May wait.
    ///
    /// - Parameter places: Where `body` stores the value; empty if it does not outlive the process.
    func whileSealing<Result>(
        in places: Set<SealedPlace>, _ body: (EnvelopeKey) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        while true {
            let result: Result? = try lock.shared { (generation) throws(StorageError) in
                guard let state = try current(generation), !state.entries.isEmpty else { return nil }
                guard let active = state.active else {
                    throw StorageError(
                        .securityApplicationFailed, "\(name) has no active key; nothing was written",
                        hint: "run: ld-host keys rotate")
                }
                if !places.isSubset(of: state.places) { return nil }
                return try body(key(active))
            }
            if let result { return result }
            try change { (state) throws(StorageError) in
                if state.entries.isEmpty { state.promote(try self.add(to: &state)) }
                state.places.formUnion(places)
            }
        }
    }

    /// Blocks changes of the ring and re-encryption of its values, but not sealing. May wait.
    func whileStanding<Result>(_ body: () throws(StorageError) -> Result) throws(StorageError) -> Result {
        try lock.shared { (_) throws(StorageError) in try body() }
    }

    /// Blocks sealing under this ring while `body` runs with its keys. May wait.
    func whileAlone<Result>(
        _ body: (KeyRingState) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        try lock.exclusive { (file) throws(StorageError) in try body(try current(file.number()) ?? KeyRingState()) }
    }

    /// Changes the ring; it is not written if `body` leaves it unchanged. If the process is killed, either the old or
    /// the new ring is stored. May wait.
    ///
    /// - Throws: `securityApplicationFailed` if the ring existed once and is missing.
    func change<Result>(
        _ body: (inout KeyRingState) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        try lock.exclusive { (file) throws(StorageError) in
            let wide = try storage.sharedStore.map { (store) throws(StorageError) in
                try HeldStoreLock("key ring \(headerName ?? "")", of: store, waiting: patience)
            }
            defer { withExtendedLifetime(wide) {} }
            // Not from memory: the stored ring with the change must be written.
            let generation = try file.number()
            let stored = try load()
            if stored == nil, generation > 0, storage.isLasting { throw vanished }
            let before = stored ?? KeyRingState()
            var state = before
            let result = try body(&state)
            guard state != before else { return result }
            let next = Self.generation(after: generation)
            // Other processes reload the ring whether or not this process passes the next line. Only if a ring has been
            // saved can its disappearance be noticed later.
            if stored != nil { try file.setNumber(next) }
            try storage.save(state.encoded())
            if stored == nil { try file.setNumber(next) }
            let changed = state
            known.withLock { $0 = Known(generation: next, state: changed) }
            return result
        }
    }

    /// The stored keys; `nil` if there is no ring yet. Needs no lock, since a ring is replaced as a whole.
    package func state() throws(StorageError) -> KeyRingState? { try load().map(remember) }

    /// The key of a header. May wait if it is not known.
    ///
    /// - Throws: `cannotOpen` with the id if the ring does not have it or it is disabled.
    func key(for id: KeyID, opening address: StorageAddress) throws(StorageError) -> EnvelopeKey {
        var entry = known.withLock { $0?.state[id] }
        if entry == nil || entry?.use == .disabled, let stored = try load() { entry = remember(stored)[id] }
        guard let entry else {
            throw StorageError(
                .cannotOpen, "'\(address)' cannot be opened: \(name) has no key \(id); it stays as it is",
                hint: "restore the ring from a backup, or see: ld-host keys list")
        }
        guard entry.use != .disabled else {
            throw StorageError(
                .cannotOpen, "'\(address)' cannot be opened: the key \(id) of \(name) is disabled; it stays as it is",
                hint: "run: ld-host keys enable \(id)")
        }
        return key(entry)
    }

    /// Forgets the keys in memory; the next use reads them again. Calls in flight keep theirs.
    func forgetKeys() { known.withLock { $0 = nil } }

    /// Whether machines share the ring.
    var isSharedByMachines: Bool { storage.sharedStore != nil }

    /// Whether a key is available without waiting.
    func knows(_ id: KeyID) -> Bool {
        known.withLock { known in
            guard let entry = known?.state[id] else { return false }
            return entry.use != .disabled
        }
    }

    /// Creates a key that only opens, and returns its id.
    ///
    /// - Throws: `unsupported` if the ring has the maximum number of keys.
    func add(to state: inout KeyRingState) throws(StorageError) -> KeyID {
        guard state.entries.count < KeyRingState.mostKeys else {
            throw StorageError(
                .unsupported, "\(name) has \(state.entries.count) keys, the maximum",
                hint: "run: ld-host reseal, then: ld-host keys retire ID")
        }
        let id = try SecretBytes(count: KeyID.size) { (bytes) throws(StorageError) in try crypto.random(into: bytes) }
        let material = try SecretBytes(count: keyLength) { (bytes) throws(StorageError) in
            try crypto.random(into: bytes)
        }
        let entry = KeyRingState.Entry(
            id: id.withBytes { KeyID($0) }, use: .decryptOnly, created: Int64(time(nil)), material: material)
        state.entries.append(entry)
        return entry.id
    }

    private func key(_ entry: KeyRingState.Entry) -> EnvelopeKey {
        EnvelopeKey(entry.material, id: entry.id, ring: headerName)
    }
}

extension KeyRing {
    /// The state of the ring's generation, which only changes while nobody holds the lock shared.
    private func current(_ generation: UInt64) throws(StorageError) -> KeyRingState? {
        if let known = known.withLock({ $0 }), known.generation == generation { return known.state }
        return try refresh(generation)
    }

    private func refresh(_ generation: UInt64) throws(StorageError) -> KeyRingState? {
        guard let state = try load() else { return nil }
        known.withLock { $0 = Known(generation: generation, state: state) }
        return state
    }

    /// Keeps a state that was read without the lock, for opening; sealing reads it again.
    private func remember(_ state: KeyRingState) -> KeyRingState {
        known.withLock { $0 = Known(generation: .max, state: state) }
        return state
    }

    private func load() throws(StorageError) -> KeyRingState? {
        guard let stored = try storage.load() else { return nil }
        return try stored.withBytes { (bytes) throws(StorageError) in try KeyRingState(decoding: bytes, of: name) }
    }

    /// A generation that never existed before, even if the lock file was removed meanwhile: the clock's nanoseconds.
    private static func generation(after last: UInt64) -> UInt64 {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return max(last &+ 1, UInt64(clamping: now.tv_sec) &* 1_000_000_000 &+ UInt64(clamping: now.tv_nsec))
    }

    private var vanished: StorageError {
        StorageError(
            .securityApplicationFailed,
            "\(name) is missing although it existed; no new one is created, since it could not open the sealed values",
            hint: "restore it from a backup; if all that it sealed was removed on purpose, remove '\(lock.path)' too")
    }
}

extension KeyRing {
    /// For an address in a user's own folder: the same address by other paths that the ring has used for sealing and
    /// that now lead to the same folder. May wait.
    func otherPaths(of address: StorageAddress) -> [StorageAddress] {
        let own = address.place
        guard let directory = own.directory, own.scope.utf8.first == UInt8(ascii: "/"),
            let places = try? state()?.places
        else { return [] }
        let folder = PathIdentity(directory)
        let others = Set(places.map(\.namespace)).filter {
            $0 != own && $0.domain.utf8.elementsEqual(own.domain.utf8) && $0.directory.map(PathIdentity.init) == folder
        }
        return others.map { StorageAddress($0, name: address.name) }
    }

    /// The envelope of an address, which opens values sealed for any path of its folder.
    func envelope(of address: StorageAddress, _ crypto: LoadedCrypto) -> Envelope {
        Envelope(address, crypto: crypto, others: { [self] in otherPaths(of: address) })
    }
}

/// A location in a store where a ring has sealed values. The ring records each, so that none is overlooked before a key
/// is retired: a store cannot list the folders that apps choose.
package struct SealedPlace: Sendable {
    /// The store's name in the configuration of the process that recorded the location.
    let store: String
    /// The store's identity, whatever its name; see ``OpenStore/identity``.
    let identity: UInt64
    let namespace: StorageNamespace
}

extension SealedPlace: Hashable {
    /// Also compares folders of the same scope: values stay in the old folder when `appGroups.path` changes.
    package static func == (left: SealedPlace, right: SealedPlace) -> Bool {
        left.identity == right.identity && left.store == right.store && left.namespace == right.namespace
            && left.namespace.directory == right.namespace.directory
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(identity)
        hasher.combine(namespace)
    }
}
