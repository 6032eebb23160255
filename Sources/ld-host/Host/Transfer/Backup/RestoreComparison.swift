internal import FoundationEssentials
internal import Glibc
package import HostGround
internal import HostMigration
package import HostPlugins
package import HostSealing
package import HostStores
package import LocalDataAPI

/// The first pass of a restore: reads all of a backup, checks it, and compares it with what the stores that serve its
/// domains now have. Changes nothing. Every call may wait.
package final class RestoreComparison {
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
    let terms: RestoreTerms
    private let start = Moment.now
    let progress: @Sendable (StepProgress) throws -> Void
    let ringsOfKeychain: RingList?

    private(set) var destinations: [String: Destination] = [:]
    /// One for each value, in the order of the file.
    private(set) var decisions: [Decision] = []
    /// How many changes each scope has.
    private(set) var changes: [AtomicScope: Int] = [:]
    /// Where values are sealed again.
    private(set) var sealed: [ObjectIdentifier: (open: OpenStore, places: Set<SealedPlace>)] = [:]
    /// Where values are sealed again under a key of this user.
    private(set) var resealed: Set<SealedPlace> = []
    /// Namespaces with their own folders that get values which stay sealed, by the rings that must know them.
    private(set) var folders: [String?: Set<SealedPlace>] = [:]
    /// The keys of the backup that a ring here gets.
    private(set) var missingKeys: [(service: String, account: String, keys: [KeyRingState.Entry])] = []
    private(set) var addsRing = false
    private(set) var salt: Data?
    var keys: BackupKeys
    /// The numbers of the values that only a key of the backup could open, and does not.
    var refused: Set<Int> = []
    private(set) var unnamed = UnnamedFolders()
    private var total = 0
    package private(set) var report: RestoreReport
    /// The last namespace, resolved.
    private var known: (domain: String, scope: String, place: StorageNamespace)?

    package init(
        _ snapshot: RouterSnapshot, _ file: BackupFile, _ crypto: LoadedCrypto, key: EnvelopeKey, _ terms: RestoreTerms,
        progress: @escaping @Sendable (StepProgress) throws -> Void
    ) throws(StorageError) {
        self.snapshot = snapshot
        self.file = file
        self.crypto = crypto
        self.key = key
        self.progress = progress
        self.terms = terms
        keys = BackupKeys(snapshot.rings)
        ringsOfKeychain = snapshot.settings.routes["keychain"] == nil ? nil : try snapshot.rings.list()
        report = RestoreReport(file: file.path, terms)
    }

    /// Reads and checks the whole file, and compares it with what is stored. Changes nothing.
    ///
    /// - Parameter domains: The domains to restore; empty for all in the file.
    package func look(_ domains: [String]) throws(StorageError) {
        let reader = try BackupReader(file, crypto, key: key)
        let manifest = try reader.manifest()
        salt = reader.salt
        total = Int(clamping: manifest.expected)
        report.version = manifest.version
        report.created = JSONTime(seconds: Int64(clamping: manifest.created))
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
            try storageErrors {
                try progress(StepProgress(step: "checking", done: decisions.count, total: max(total, decisions.count)))
            }
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
        let (isEqual, content) = try compare(item, at: address, in: destination.open, reader)
        switch (item.kind, isEqual) {
        case (.ledger, nil): report.ledger += 1
        // For a migration that the store knows, the store's own history counts, unless its values are replaced too.
        case (.ledger, false?):
            guard terms.overwrites else { return .skip }
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
        try noteSealing(content, address, in: destination.open)
        try noteFolder(item, address, in: destination.open, replaces: isEqual != nil)
        return isEqual == nil ? .add : .replace
    }

    /// Records how a value to be restored is sealed by its key's policy.
    private func noteSealing(
        _ content: RestoredContent, _ address: StorageAddress, in open: OpenStore
    ) throws(StorageError) {
        guard let header = content.header, let place = open.sealedPlace(address.place) else { return }
        if content.isOpened, !content.isRefused, !terms.takesKeys, try !isHere(header) {
            report.resealed += 1
            resealed.insert(place)
        } else {
            if content.isRefused { report.unopened += 1 }
            if place.namespace.directory != nil { folders[header.ring, default: []].insert(place) }
        }
    }

    /// Records where a value is to be restored.
    private func noteFolder(
        _ item: BackupItem, _ address: StorageAddress, in open: OpenStore, replaces: Bool
    ) throws(StorageError) {
        guard item.kind == .value else { return }
        let folder = try snapshot.unnamedFolder(of: address, in: open, besides: terms.folders)
        if let folder { unnamed.add(folder, "\(address)") }
        report.changes?.append(
            RestoreReport.Change(
                address: "\(address)", replaces: replaces, folder: address.place.chosenFolder,
                needsFolder: folder != nil))
    }

    /// Announces a change of a value.
    private func note(_ address: StorageAddress, in open: OpenStore) {
        changes[AtomicScope(address.place, in: open), default: 0] += 1
        guard open.sealing != nil else { return }
        let place = open.sealedPlace(address.place)
        sealed[ObjectIdentifier(open), default: (open, [])].places.formUnion(place.map { [$0] } ?? [])
    }

    private func decide(ring item: BackupItem, _ reader: BackupReader) throws(StorageError) -> Decision {
        let address = try address(of: item)
        let ring = try state(item, reader)
        keys.add(ring, item.scope, item.name)
        let name = MasterRings.name(item.scope, item.name)
        var missing: [KeyRingState.Entry] = []
        for entry in ring.entries where try !keys.isHere(entry.id, of: name) { missing.append(entry) }
        guard !missing.isEmpty else { return .skip }
        let list = ringsOfKeychain
        let isNew =
            try list.map { (list) throws(StorageError) in
                let value = try list.open.value(at: address)
                return try !value.store.exists(value.handle)
            } ?? true
        report.rings.append(
            RestoreReport.Ring(ring: "\(address)", keys: missing.map { "\($0.id)" }, isNew: isNew))
        guard terms.takesKeys else { return .skip }
        try requireKeychain()
        guard let list, !isNew else {
            if let list { try noteRing(item, address, list) }
            return .add
        }
        guard var stored = try list.open.value(at: address).get() else { return .skip }
        defer { stored.resetBytes(in: 0..<stored.count) }
        _ = try stored.withBuffer { (bytes) throws(StorageError) in
            try KeyRingState(decoding: bytes, of: "'\(address)', where the backup has a key ring,")
        }
        missingKeys.append((item.scope, item.name, missing))
        return .skip
    }

    private func noteRing(_ item: BackupItem, _ address: StorageAddress, _ list: RingList) throws(StorageError) {
        note(address, in: list.open)
        if try list.kind(of: item.scope, item.name) == nil { note(list.address(item.scope, item.name), in: list.open) }
        addsRing = true
    }

    /// The ring that is the current value of the backup.
    func state(_ item: BackupItem, _ reader: BackupReader) throws(StorageError) -> KeyRingState {
        var (data, isWhole) = try reader.gather(atMost: MoveLimits.whole)
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
        // The folder of a namespace is this machine's own.
        let place = try place(of: item)
        known = (item.domain, item.scope, place)
        return try checked(item, StorageAddress(place, name: item.name))
    }

    /// - Throws: `invalidAddress` for what no command could list, read or remove once it is stored.
    private func place(of item: BackupItem) throws(StorageError) -> StorageNamespace {
        let listed = StorageNamespace(domain: item.domain, scope: item.scope)
        try listed.validate()
        if let place = snapshot.addressable(listed) { return place }
        throw StorageError(
            .invalidAddress,
            "the backup '\(file.path)' has a value that no address names: \(item.description); nothing was restored",
            hint: "name the other domains with --domain")
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
}
