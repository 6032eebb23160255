internal import FoundationEssentials
internal import Glibc
internal import LocalDataAPI

/// The first pass of a restore: reads all of a backup, checks it, and compares it with what the stores that serve its
/// domains now have. Changes nothing. Every call may wait.
final class RestoreComparison {
    /// The store that serves a domain of the backup.
    struct Destination {
        let open: OpenStore
        var counts: RestoreReport.Domain
    }

    /// The treatment of a value of the backup.
    enum Decision: UInt8 {
        case skip
        case add
        case replace
    }

    let snapshot: RouterSnapshot
    let file: BackupFile
    let crypto: LoadedCrypto
    let key: EnvelopeKey
    private let overwrites: Bool
    private let start = Moment.now
    let progress: @Sendable (StepProgress) -> Void
    let ringsOfKeychain: RingList?

    private(set) var destinations: [String: Destination] = [:]
    /// One for each value, in the order of the file.
    private(set) var decisions: [Decision] = []
    /// How many changes each scope has.
    private(set) var changes: [AtomicScope: Int] = [:]
    /// Where values are sealed again.
    private(set) var sealed: [ObjectIdentifier: (open: OpenStore, places: Set<SealedPlace>)] = [:]
    /// Namespaces with their own folders, which the rings must know.
    private(set) var folders: Set<SealedPlace> = []
    /// The keys of the backup that a ring here does not have.
    private(set) var missingKeys: [(service: String, account: String, keys: [KeyRingState.Entry])] = []
    private(set) var addsRing = false
    private(set) var presentRings: [(service: String, account: String)] = []
    private(set) var salt: Data?
    private var total = 0
    private(set) var report: RestoreReport
    /// The last namespace, resolved.
    private var known: (domain: String, scope: String, place: StorageNamespace)?

    init(
        _ snapshot: RouterSnapshot, _ file: BackupFile, _ crypto: LoadedCrypto, key: EnvelopeKey, overwriting: Bool,
        progress: @escaping @Sendable (StepProgress) -> Void
    ) throws(StorageError) {
        self.snapshot = snapshot
        self.file = file
        self.crypto = crypto
        self.key = key
        self.progress = progress
        overwrites = overwriting
        ringsOfKeychain = snapshot.settings.routes["keychain"] == nil ? nil : try snapshot.rings.list()
        report = RestoreReport(file: file.path)
    }

    /// Reads and checks the whole file, and compares it with what is stored. Changes nothing.
    ///
    /// - Parameter domains: The domains to restore; empty for all in the file.
    func look(_ domains: [String]) throws(StorageError) {
        let reader = try BackupReader(file, crypto, key: key)
        let manifest = try reader.manifest()
        salt = reader.salt
        total = Int(clamping: manifest.expected)
        (report.version, report.created) = (manifest.version, manifest.created)
        for domain in domains where !manifest.domains.contains(where: { $0.name == domain }) {
            throw StorageError(
                .invalidAddress, "the backup '\(file.path)' has no values of '\(domain)'",
                hint: "it has those of \(manifest.domains.map(\.name).joined(separator: ", "))")
        }
        let all = Set(manifest.domains.map(\.name))
        for domain in manifest.domains where domains.isEmpty || domains.contains(domain.name) {
            try prepare(domain)
        }
        while let item = try reader.next() {
            guard item.kind == .ring ? item.domain == "keychain" : all.contains(item.domain) else {
                throw reader.damaged("\(item.description) is of a domain that it does not announce")
            }
            decisions.append(try decide(item, reader))
            progress(StepProgress(step: "checking", done: decisions.count, total: max(total, decisions.count)))
        }
        total = decisions.count
        for (domain, destination) in destinations.sorted(by: { $0.key < $1.key }) {
            var counts = destination.counts
            counts.onlyStored = max(0, try count(domain, destination.open) - counts.same - counts.different)
            report.domains.append(counts)
        }
    }

    private func prepare(_ domain: BackupManifest.Domain) throws(StorageError) {
        guard snapshot.settings.routes[domain.name] != nil else {
            throw StorageError(
                .invalidConfiguration, "the backup has values of '\(domain.name)', and no store serves that domain",
                hint: "choose one: \(snapshot.routeCommand(domain.name)); or name the other domains with --domain")
        }
        let open = try snapshot.slot(for: domain.name).openIfNeeded()
        guard !domain.isProtected || open.isKeychain else {
            throw StorageError(
                .securityApplicationFailed,
                "store '\(open.name)' would keep values of '\(domain.name)' plain that were sealed where the backup was "
                    + "made; nothing was restored",
                hint: "seal it: ld-host config set stores.NAME.sealing keyFile")
        }
        destinations[domain.name] = Destination(
            open: open, counts: RestoreReport.Domain(domain: domain.name, store: open.name))
    }

    private func decide(_ item: BackupItem, _ reader: BackupReader) throws(StorageError) -> Decision {
        if item.kind == .ring { return try decide(ring: item, reader) }
        guard let destination = destinations[item.domain] else { return .skip }
        try requireKept(item.domain, in: destination.open)
        // It would be gone by now, and takes nothing away that is here.
        if let expires = item.attributes.expires, expires <= start {
            if item.kind == .value { report.expired += 1 }
            return .skip
        }
        let address = try address(of: item)
        let isEqual = try isEqual(destination.open.value(at: address), reader)
        switch (item.kind, isEqual) {
        case (.ledger, nil): report.ledger += 1
        // For a migration that the store knows, the store's own history counts, unless its values are replaced too.
        case (.ledger, false?):
            guard overwrites else { return .skip }
            report.ledger += 1
        case (.ledger, true?): return .skip
        case (_, nil): destinations[item.domain]?.counts.new += 1
        case (_, true?):
            destinations[item.domain]?.counts.same += 1
            return .skip
        case (_, false?):
            destinations[item.domain]?.counts.different += 1
            if report.conflicts.count < RestoreReport.mostConflicts { report.conflicts.append("\(address)") }
        }
        note(address, in: destination.open)
        return isEqual == nil ? .add : .replace
    }

    /// - Throws: `unsupported` for a store whose values are gone when this program ends.
    private func requireKept(_ domain: String, in open: OpenStore) throws(StorageError) {
        guard open.isGoneWithProcess else { return }
        throw StorageError(
            .unsupported,
            "store '\(open.name)', which serves '\(domain)', keeps values only while a program runs, so those of the "
                + "backup would be lost; nothing was restored",
            hint: "choose another store: \(snapshot.routeCommand(domain)); or name the other domains with "
                + "--domain")
    }

    /// Announces a change of a value.
    private func note(_ address: StorageAddress, in open: OpenStore) {
        changes[AtomicScope(address.place, in: open), default: 0] += 1
        if address.place.directory != nil, let place = open.sealedPlace(address.place) { folders.insert(place) }
        guard open.sealing != nil else { return }
        let place = open.sealedPlace(address.place)
        sealed[ObjectIdentifier(open), default: (open, [])].places.formUnion(place.map { [$0] } ?? [])
    }

    private func decide(ring item: BackupItem, _ reader: BackupReader) throws(StorageError) -> Decision {
        guard let list = ringsOfKeychain else {
            throw StorageError(
                .invalidConfiguration, "the backup has key rings, and no store serves the domain 'keychain'",
                hint: "choose one: ld-host config set domains.keychain sealed-files")
        }
        guard list.open.isKeychain else {
            throw StorageError(
                .securityApplicationFailed,
                "store '\(list.open.name)', which serves 'keychain', would keep key rings plain; nothing was restored",
                hint: "seal it: ld-host config set stores.NAME.sealing keyFile")
        }
        let address = try address(of: item)
        let ring = try state(item, reader)
        guard var stored = try list.open.value(at: address).get() else {
            note(address, in: list.open)
            if try list.kind(of: item.scope, item.name) == nil {
                note(list.address(item.scope, item.name), in: list.open)
            }
            addsRing = true
            report.rings += 1
            return .add
        }
        defer { stored.resetBytes(in: 0..<stored.count) }
        let present = try stored.withBuffer { (bytes) throws(StorageError) in
            try KeyRingState(decoding: bytes, of: "'\(address)', where the backup has a key ring,")
        }
        presentRings.append((item.scope, item.name))
        let missing = ring.entries.filter { present[$0.id] == nil }
        if !missing.isEmpty {
            missingKeys.append((item.scope, item.name, missing))
            report.joinedRings.append("\(address)")
        }
        return .skip
    }

    /// The ring that is the current value of the backup.
    func state(_ item: BackupItem, _ reader: BackupReader) throws(StorageError) -> KeyRingState {
        var (data, isWhole) = try reader.gather(atMost: LargeMove.least)
        defer { data.resetBytes(in: 0..<data.count) }
        guard isWhole,
            let state = try? data.withBuffer({ (bytes) throws(StorageError) in
                try KeyRingState(decoding: bytes, of: "a key ring")
            })
        else { throw reader.damaged("\(item.description) is not a key ring") }
        return state
    }

    /// Where a value of the backup belongs here.
    func address(of item: BackupItem) throws(StorageError) -> StorageAddress {
        if item.kind == .ledger { return try checked(StorageAddress(LedgerPlace.namespace, name: item.name)) }
        if let known, known.domain.hasBytes(of: item.domain), known.scope.hasBytes(of: item.scope) {
            return try checked(item, StorageAddress(known.place, name: item.name))
        }
        let listed = StorageNamespace(domain: item.domain, scope: item.scope)
        try listed.validate()
        // The folder of a namespace is this machine's own.
        let resolved = try? snapshot.settings.place(of: snapshot.settings.domain(of: listed))
        let place = resolved == listed ? resolved ?? listed : listed
        known = (item.domain, item.scope, place)
        return try checked(item, StorageAddress(place, name: item.name))
    }

    private func checked(_ address: StorageAddress) throws(StorageError) -> StorageAddress {
        try address.validate()
        return address
    }

    private func checked(_ item: BackupItem, _ address: StorageAddress) throws(StorageError) -> StorageAddress {
        try address.validate()
        guard item.kind == .value, address.place.domain == "keychain", let open = destinations["keychain"]?.open,
            try snapshot.isReserved(address, in: open)
        else { return address }
        throw StorageError(
            .securityApplicationFailed,
            "the backup has a value at '\(address)', where this host keeps a key of its own; nothing was restored",
            hint:
                "set encryption.service and encryption.account to other names, or name the other domains with --domain")
    }

    /// Compares the current value of the backup with a stored one; `nil` if none is stored.
    private func isEqual(_ target: SealedValue, _ reader: BackupReader) throws(StorageError) -> Bool? {
        guard try target.store.exists(target.handle) else { return nil }
        var failure: StorageError?
        do throws(StorageError) {
            return try target.isEqual { (buffer) throws(StorageError) in
                do throws(StorageError) { return try reader.read(into: buffer) } catch {
                    failure = error
                    throw error
                }
            }
        } catch {
            // A stored value that cannot be read counts as different.
            guard failure == nil, [.cannotOpen, .corrupt].contains(error.code) else { throw error }
            return false
        }
    }

    /// The number of an app's values that a store has of a domain.
    private func count(_ domain: String, _ open: OpenStore) throws(StorageError) -> Int {
        guard open.store.abilities.enumeration != nil else { return 0 }
        var count = 0
        for (place, names) in try snapshot.places(in: open, withFolders: true) where place.domain == domain {
            let isReserved = try snapshot.reservedNames(in: place, of: open)
            try open.store.forEachName(names, inPagesOf: place) { (name) throws(StorageError) in
                if !isReserved(name) { count += 1 }
            }
        }
        return count
    }

    /// Throws `busy` if the file has other values than the stores, which are not to be replaced.
    func requireNoConflict() throws(StorageError) {
        let count = report.domains.reduce(0) { $0 + $1.different }
        guard count > 0, !overwrites else { return }
        throw StorageError(
            .busy,
            "the stores have different values at \(count.counted("address")) of the backup, e.g. "
                + "\(report.conflicts.prefix(3).map { "'\($0)'" }.joined(separator: ", ")); nothing was restored",
            hint: "see them with --plan; --overwrite replaces them")
    }
}

/// What a backup has that the stores do not have, and what was restored.
package struct RestoreReport: Encodable, Sendable {
    /// A domain of the backup.
    package struct Domain: Encodable, Sendable {
        package let domain: String
        /// The store that serves it here.
        package let store: String
        /// The number of values that the store does not have.
        package internal(set) var new = 0
        /// The number of values that the store has, byte for byte.
        package internal(set) var same = 0
        /// The number of values that are different in the store.
        package internal(set) var different = 0
        /// The number of values that only the store has; they stay.
        package internal(set) var onlyStored = 0
    }

    static let mostConflicts = 20

    package let file: String
    /// The version of the program that made the backup.
    package internal(set) var version = ""
    /// When it was made, in seconds since 1970 UTC.
    package internal(set) var created: UInt64 = 0
    package internal(set) var domains: [Domain] = []
    /// The number of values that have expired since the backup was made; they are left out.
    package internal(set) var expired = 0
    /// Some addresses where the store has another value.
    package internal(set) var conflicts: [String] = []
    /// The number of key rings that are missing here.
    package internal(set) var rings = 0
    /// The addresses of rings that the keychain has, and that get keys of the backup, which only open.
    package internal(set) var joinedRings: [String] = []
    /// The number of the ledger's entries that are missing here, or to be replaced.
    package internal(set) var ledger = 0
    /// The number of values, rings and entries of the ledger that were restored.
    package internal(set) var restored = 0

    init(file: String) { self.file = file }
}
