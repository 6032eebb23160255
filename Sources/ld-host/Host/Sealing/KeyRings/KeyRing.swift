internal import CLinux
internal import DurableFiles
internal import Glibc
package import HostGround
package import HostPlugins
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
///   lock each other out while they seal: see ``RingSharing``.
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
        /// A number that each `save` changes, also one of the same ring; `nil` if the ring is absent. May wait.
        let stamp: @Sendable () throws(StorageError) -> UInt64?
        /// The store that keeps it, if machines share that: then its lock excludes them, too.
        let sharedStore: LoadedStore?
        /// The lock's name in that store.
        let lockName: String

        package init(
            isLasting: Bool, in store: LoadedStore, lockName: String,
            load: @escaping @Sendable () throws(StorageError) -> SecretBytes?,
            save: @escaping @Sendable (SecretBytes) throws(StorageError) -> Void,
            stamp: @escaping @Sendable () throws(StorageError) -> UInt64?
        ) {
            (self.isLasting, self.load, self.save, self.stamp) = (isLasting, load, save, stamp)
            sharedStore = store.abilities.lock == nil ? nil : store
            self.lockName = lockName
        }
    }

    /// A copy of the stored ring.
    private struct Known {
        /// The number in the lock's file at that time; the greatest one if the copy must not seal.
        let generation: UInt64
        let state: KeyRingState
        /// When it began to be read; `nil` if the ring is of this machine only.
        let read: MachineTime?
        /// When the stored ring was last asked for, whether or not it answered.
        var asked: MachineTime?

        init(generation: UInt64, state: KeyRingState, read: MachineTime?) {
            (self.generation, self.state, self.read, asked) = (generation, state, read, read)
        }
    }

    /// For messages, e.g. `the key ring 'LocalData/master'`.
    package let name: String
    /// The ring's name in headers; `nil` for the rings that need none.
    package let headerName: String?
    /// The path of its lock, without an extension: the same in all processes that share the ring.
    package let file: String
    private let lock: FairLock
    private let storage: Storage
    private let patience: Duration
    private let keyLength: Int
    private let crypto: LoadedCrypto
    private let known = Mutex<Known?>(nil)

    /// - Parameters:
    ///   - keyLength: The size of a new key in bytes.
    ///   - patience: How long a use waits for others before it fails with `busy`.
    package init(
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
    package func whileSealing<Result>(
        in places: Set<SealedPlace>, _ body: (EnvelopeKey) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        guard isSharedByMachines else { return try sealing(in: places, body) }
        var lent: EnvelopeKey?
        let result: Result
        do throws(StorageError) {
            result = try sealing(in: places) { (key) throws(StorageError) in
                lent = key
                return try body(key)
            }
        } catch {
            // It may be stored all the same, if the outcome is unknown.
            if let lent { try? keepIfLate(lent) }
            throw error
        }
        if let lent { try keepIfLate(lent) }
        return result
    }

    private func sealing<Result>(
        in places: Set<SealedPlace>, _ body: (EnvelopeKey) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        func attempt(_ generation: UInt64) throws(StorageError) -> Result? {
            guard let known = try current(generation), !known.state.entries.isEmpty else { return nil }
            let state = known.state
            guard let active = state.active else {
                throw StorageError(
                    .securityApplicationFailed, "\(name) has no active key; nothing was written",
                    hint: "run: ld-host keys rotate")
            }
            if !places.isSubset(of: state.places) { return nil }
            return try body(key(active, read: known.read))
        }
        func add(_ state: inout KeyRingState) throws(StorageError) {
            if state.entries.isEmpty { state.promote(try self.add(to: &state)) }
            state.places.formUnion(places)
        }
        while true {
            if let result = try lock.shared(attempt) { return result }
            // Nobody retires a key before there is a value in a location that was just recorded: an empty one looks as
            // if its disk were not mounted.
            if let result = try change(
                add, thenShared: { (_, generation) throws(StorageError) in try attempt(generation) })
            {
                return result
            }
        }
    }

    /// Blocks changes of the ring and re-encryption of its values, but not sealing. May wait.
    package func whileStanding<Result>(_ body: () throws(StorageError) -> Result) throws(StorageError) -> Result {
        try lock.shared { (_) throws(StorageError) in try body() }
    }

    /// Blocks sealing under this ring while `body` runs with its keys. May wait.
    package func whileAlone<Result>(
        _ body: (KeyRingState) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        guard isSharedByMachines else {
            return try lock.exclusive { (file) throws(StorageError) in
                try body(try current(file.number())?.state ?? KeyRingState())
            }
        }
        var lent: EnvelopeKey?
        let result = try lock.exclusive { (file) throws(StorageError) in
            let known = try refresh(file.number())
            if let known { lent = known.state.active.map { key($0, read: known.read) } }
            return try body(known?.state ?? KeyRingState())
        }
        if let lent { try keepIfLate(lent) }
        return result
    }

    /// Changes the ring; it is not written if `body` leaves it unchanged. If the process is killed, either the old or
    /// the new ring is stored. May wait.
    ///
    /// - Throws: `securityApplicationFailed` if the ring existed once and is missing; `busy` if machines share the
    ///   ring, and the lock of its store was lost meanwhile.
    package func change<Result>(
        _ body: (inout KeyRingState) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        try change(body, thenShared: { (result, _) throws(StorageError) in result })
    }

    /// Changes the ring, and then holds its lock shared while `after` runs with what `body` returned and the number in
    /// the lock's file. Nobody else changes the ring in between.
    private func change<Change, Result>(
        _ body: (inout KeyRingState) throws(StorageError) -> Change,
        thenShared after: (Change, UInt64) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        let end = ContinuousClock.now + patience
        func attempt(_ file: borrowing LockedFile) throws(StorageError) -> (Change, UInt64)? {
            let wide: HeldStoreLock?
            do throws(StorageError) { wide = try lockedAmongMachines(waiting: Self.patienceAlone) } catch {
                guard error.code == .busy, ContinuousClock.now < end else { throw error }
                return nil
            }
            defer { withExtendedLifetime(wide) {} }
            return (try change(file, wide, body), try file.number())
        }
        while true {
            let result = try lock.exclusive(attempt) { (changed) throws(StorageError) in
                try after(changed.0, changed.1)
            }
            if let result { return result }
            // Another machine is changing the ring, maybe for long; meanwhile this one's processes seal.
            _ = try lockedAmongMachines(waiting: patience)
        }
    }

    private func change<Result>(
        _ file: borrowing LockedFile, _ wide: HeldStoreLock?,
        _ body: (inout KeyRingState) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        // Not from memory: the stored ring with the change must be written.
        let generation = try file.number()
        let stored = try load()
        if stored == nil, generation > 0, storage.isLasting { throw vanished }
        let before = stored?.state ?? KeyRingState()
        var state = before
        let result = try body(&state)
        guard state != before else { return result }
        try wide?.requireHeld()
        let next = Self.generation(after: generation)
        // Other processes reload the ring whether or not this process passes the next line. Only if a ring has been
        // saved can its disappearance be noticed later.
        if stored != nil { try file.setNumber(next) }
        try storage.save(state.encoded())
        if stored == nil { try file.setNumber(next) }
        // Read again where machines share it: it has no time of reading.
        let copy = isSharedByMachines ? nil : Known(generation: next, state: state, read: nil)
        known.withLock { $0 = copy }
        return result
    }

    /// The lock that machines share; `nil` if the ring is of this machine only.
    private func lockedAmongMachines(waiting wait: Duration) throws(StorageError) -> HeldStoreLock? {
        try storage.sharedStore.map { (store) throws(StorageError) in
            try HeldStoreLock(storage.lockName, of: store, waiting: wait)
        }
    }

    /// How long this machine's processes must not seal while another machine changes the ring.
    private static let patienceAlone = Duration.milliseconds(100)

    /// Returns a key to a ring that machines share, if it was removed. This machine's lock may be held shared. May
    /// wait.
    ///
    /// - Parameter isRenewed: Whether to write the ring, with a new stamp, also if it has the key, but not as the
    ///   active one.
    package func keep(_ key: EnvelopeKey, renewing isRenewed: Bool) throws(StorageError) {
        let wide = try lockedAmongMachines(waiting: patience)
        defer { withExtendedLifetime(wide) {} }
        guard let id = key.id else { return }
        guard var state = try load()?.state else { throw vanished }
        let isThere = state[id] != nil
        if !isThere { state.restore(key.material, id) }
        guard !isThere || isRenewed && state.active?.id != id else { return }
        try wide?.requireHeld()
        try storage.save(state.encoded())
        known.withLock { $0 = nil }
    }

    /// The stored keys; `nil` if there is no ring yet. Needs no lock, since a ring is replaced as a whole.
    package func state() throws(StorageError) -> KeyRingState? { try load().map(remember) }

    /// The same; it is an error if the ring existed once. May wait.
    ///
    /// - Throws: `securityApplicationFailed` if it is missing.
    package func stateUnlessMissing() throws(StorageError) -> KeyRingState? {
        if let state = try state() { return state }
        try requireUnused()
        return nil
    }

    /// - Throws: `securityApplicationFailed` if the ring, which is absent, existed once. May wait.
    package func requireUnused() throws(StorageError) {
        // Without a lock's file, the ring has never been used.
        guard storage.isLasting, HostFile.exists(lock.path) else { return }
        let generation = try lock.shared { (generation) throws(StorageError) in generation }
        if generation > 0 { throw vanished }
    }

    /// A number that each change of the stored ring changes; `nil` if the ring is absent. May wait.
    package func stamp() throws(StorageError) -> UInt64? { try storage.stamp() }

    /// The key of a header. May wait if it is not known.
    ///
    /// - Throws: `cannotOpen` with the id if the ring does not have it or it is disabled.
    package func key(for id: KeyID, opening address: StorageAddress) throws(StorageError) -> EnvelopeKey {
        var entry = entry(id)
        if entry == nil || entry?.use == .disabled, let stored = try load() { entry = remember(stored)[id] }
        guard let entry else {
            throw StorageError(
                .cannotOpen, "'\(address)' cannot be opened: \(name) has no key \(id); it stays as it is",
                hint: "restore the ring from a backup, with ld-host restore --keys; or see: ld-host keys list")
        }
        guard entry.use != .disabled else {
            throw StorageError(
                .cannotOpen, "'\(address)' cannot be opened: the key \(id) of \(name) is disabled; it stays as it is",
                hint: "run: ld-host keys enable \(id)")
        }
        return key(entry)
    }

    /// Forgets the keys in memory; the next use reads them again. Calls in flight keep theirs.
    package func forgetKeys() { known.withLock { $0 = nil } }

    /// Whether machines share the ring.
    package var isSharedByMachines: Bool { storage.sharedStore != nil }

    /// Whether a key is available without waiting.
    package func knows(_ id: KeyID) -> Bool {
        known.withLock { known in
            guard let known, let entry = known.state[id], known.asked?.isStale != true else { return false }
            return entry.use != .disabled
        }
    }

    /// A key of the copy, which is first read again if it is stale, so that a key that another machine has disabled
    /// soon opens nothing here. If the ring's store does not answer, the copy counts. May wait.
    private func entry(_ id: KeyID) -> KeyRingState.Entry? {
        let (entry, isStale) = known.withLock { ($0?.state[id], $0?.asked?.isStale == true) }
        guard isStale else { return entry }
        if let stored = try? load() { return remember(stored)[id] }
        known.withLock { $0?.asked = .now }
        return entry
    }

    /// Creates a key that only opens, and returns its id.
    ///
    /// - Throws: `unsupported` if the ring has the maximum number of keys.
    package func add(to state: inout KeyRingState) throws(StorageError) -> KeyID {
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

    private func key(_ entry: KeyRingState.Entry, read: MachineTime? = nil) -> EnvelopeKey {
        EnvelopeKey(entry.material, id: entry.id, ring: headerName, read: read)
    }
}

extension KeyRing {
    /// The copy of the ring's generation, which on this machine only changes while nobody holds the lock shared.
    private func current(_ generation: UInt64) throws(StorageError) -> Known? {
        if let known = known.withLock({ $0 }), known.generation == generation, known.read?.isStale != true {
            return known
        }
        return try refresh(generation)
    }

    private func refresh(_ generation: UInt64) throws(StorageError) -> Known? {
        guard let (state, read) = try load() else { return nil }
        let copy = Known(generation: generation, state: state, read: read)
        known.withLock { $0 = copy }
        return copy
    }

    /// Keeps a state that was read without the lock, for opening; sealing reads it again.
    private func remember(_ stored: (state: KeyRingState, read: MachineTime?)) -> KeyRingState {
        known.withLock { $0 = Known(generation: .max, state: stored.state, read: stored.read) }
        return stored.state
    }

    /// The stored ring, and when it began to be read if machines share it.
    private func load() throws(StorageError) -> (state: KeyRingState, read: MachineTime?)? {
        let read: MachineTime? = isSharedByMachines ? .now : nil
        guard let stored = try storage.load() else { return nil }
        let state = try stored.withBytes { (bytes) throws(StorageError) in try KeyRingState(decoding: bytes, of: name) }
        return (state, read)
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
