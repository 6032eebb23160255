internal import FoundationEssentials
internal import Glibc
package import HostGround
internal import HostMigration
package import HostPlugins
package import HostSealing
package import HostStores
package import LocalDataAPI

/// Writes the values of some domains to a file. Values are opened below their stores' sealing; those that keys'
/// policies have sealed stay sealed, and their rings come along. Every call may wait.
package struct BackupRun {
    /// A domain with the store that serves it.
    private struct Source {
        let domain: String
        /// Frozen, if its component can do that.
        let open: OpenStore
        /// Ordered by scope, with the names that count.
        var places: [(namespace: StorageNamespace, names: ListedNames)] = []
        /// The names in the ledger of the domain, in order.
        var ledger: [String] = []
    }

    let snapshot: RouterSnapshot
    private var sources: [Source] = []
    private let frozen = FrozenStores()
    /// The domains that are left out, with the reason.
    private var leftOut: [String: StorageError] = [:]
    private let rings: BackupRings?
    /// Why the key rings are left out.
    private var ringsLeftOut: StorageError?
    private let holders: PlaceHistory.Holders
    private let progress: @Sendable (StepProgress) throws -> Void

    /// - Parameter domains: Empty for all that a store serves; those whose store cannot be opened or listed then are
    ///   left out, and the report says so. So are the key rings of a keychain that is not named.
    /// - Throws: `unsupported` if a store cannot list its values; why a store cannot be opened.
    package init(
        _ snapshot: RouterSnapshot, _ domains: [String], progress: @escaping @Sendable (StepProgress) throws -> Void
    ) throws(StorageError) {
        self.snapshot = snapshot
        self.progress = progress
        BatchRecovery(snapshot: snapshot).recoverAll()
        try BatchIntent.requireNone(snapshot)
        do throws(StorageError) { rings = try BackupRings(snapshot) } catch {
            // A day without a backup of the settings, since a desktop's keyring is locked, helps nobody.
            guard !domains.contains("keychain") else { throw error }
            (rings, ringsLeftOut) = (nil, error)
        }
        if let hidden = rings?.hidden { ringsLeftOut = hidden }
        holders = snapshot.places.holders(snapshot.settings.folders)
        let folders = rings?.places() ?? []
        for domain in (domains.isEmpty ? Array(snapshot.settings.routes.keys) : domains).sorted(by: Self.precedes) {
            do throws(StorageError) { sources.append(try source(domain, folders)) } catch {
                guard domains.isEmpty else { throw error }
                leftOut[domain] = error
            }
        }
        // A file without any domain would be no backup.
        if sources.isEmpty, let error = leftOut.min(by: { Self.precedes($0.key, $1.key) })?.value { throw error }
    }

    /// A domain, with its places and its part of the ledger.
    private mutating func source(_ domain: String, _ folders: Set<SealedPlace>) throws(StorageError) -> Source {
        let open = try frozen.store(of: snapshot.slot(for: domain))
        guard open.store.abilities.enumeration != nil else {
            throw StorageError(
                .unsupported, "store '\(open.name)' cannot list its values of '\(domain)'",
                hint: "leave the domain out: name the others with --domain")
        }
        // A backup without what the store has sealed would look like a whole one.
        guard !open.hasForgottenSealing else { throw StoreSealing.forgotten(open.name, "what is in '\(domain)'") }
        var source = Source(domain: domain, open: open)
        // The rings of keys know the folders that apps have chosen for what they seal.
        // A folder that this process may not read hides no other one.
        var hidden: StorageError?
        var places = try snapshot.places(in: open, withFolders: true) { hidden = $0 }
        for folder in folders where folder.identity == open.identity { places[folder.namespace] = .all }
        // A restore would refuse the file for what no address names.
        for (place, names) in places where place.domain == domain {
            do throws(StorageError) { _ = try open.store.hasValue(in: place, names) } catch {
                guard error.code == .permissionDenied else { throw error }
                places[place] = nil
                hidden = error
            }
        }
        if let hidden { leftOut["a folder of store '\(open.name)'"] = hidden }
        source.places = places.filter { $0.key.domain == domain && snapshot.isListed($0.key, in: open) }
            .map { ($0, $1) }
            .sorted { Self.precedes($0.namespace.scope, $1.namespace.scope) }
        source.ledger = try DomainHistory(snapshot: snapshot, source: open, domains: [domain]).names()
            .sorted(by: Self.precedes)
        return source
    }

    private static func precedes(_ left: String, _ right: String) -> Bool {
        left.utf8.lexicographicallyPrecedes(right.utf8)
    }

    /// Writes the file.
    package func write(
        to target: BackupTarget, _ crypto: LoadedCrypto, under key: EnvelopeKey, as style: EnvelopeStyle
    ) throws(StorageError) -> BackupReport {
        var report = BackupReport(file: target.path)
        report.failures = leftOut.mapValues(\.message)
        if let ringsLeftOut {
            report.failures[rings == nil ? "the key rings" : "some key rings"] = ringsLeftOut.message
        }
        var expected = 0
        for source in sources {
            for (place, names) in source.places { try forEachName(names, in: place, of: source) { _ in expected += 1 } }
        }
        let total = expected
        try target.write(crypto, under: key, as: style) { writer in
            try writer.begin(
                BackupManifest(
                    version: HostVersion.current, created: UInt64(clamping: time(nil)), expected: UInt64(total),
                    domains: sources.map { .init(name: $0.domain, isProtected: $0.open.isKeychain) }))
            try addRings(to: writer, &report)
            for source in sources {
                var domain = BackupReport.Domain(domain: source.domain, store: source.open.name)
                for (place, names) in source.places {
                    try forEachName(names, in: place, of: source) { (name) throws(StorageError) in
                        let item = BackupItem(kind: .value, domain: place.domain, scope: place.scope, name: name)
                        let address = StorageAddress(place, name: name)
                        if try add(item, try source.open.value(at: address), to: writer, &report) {
                            domain.values += 1
                        }
                        report.values = report.domains.reduce(domain.values) { $0 + $1.values }
                        let done = StepProgress(step: "writing", done: report.values, total: total)
                        try storageErrors { try progress(done) }
                    }
                }
                report.domains.append(domain)
            }
            for source in sources {
                for name in source.ledger {
                    let item = BackupItem(kind: .ledger, domain: source.domain, scope: "", name: name)
                    let address = StorageAddress(LedgerPlace.namespace, name: name)
                    if try add(item, try source.open.value(at: address), to: writer, &report) { report.ledger += 1 }
                }
            }
            try writer.end()
            report.bytes = writer.bytes
        }
        return report
    }

    /// Passes the names of an app's values in a namespace, in order.
    private func forEachName(
        _ names: ListedNames, in place: StorageNamespace, of source: Source,
        _ body: (String) throws(StorageError) -> Void
    ) throws(StorageError) {
        let isReserved = try snapshot.reservedNames(in: place, of: source.open)
        try source.open.store.forEachName(names, inPagesOf: place) { (name) throws(StorageError) in
            if !isReserved(name) { try body(name) }
        }
    }

    /// - Returns: Whether there is such a value, and it could be read; if it could not, the report says so.
    private func add(
        _ item: BackupItem, _ value: SealedValue, to writer: BackupWriter, _ report: inout BackupReport
    ) throws(StorageError) -> Bool {
        var item = item
        func keep(_ attributes: ValueAttributes) {
            item.attributes = attributes.kept
            guard item.kind == .value, let owner = item.attributes.owner else { return }
            let place = StorageNamespace(domain: item.domain, scope: item.scope)
            item.holders = holders.of(StorageAddress(place, name: item.name), owner: owner)
        }
        do throws(StorageError) {
            guard let size = try value.attributes().map({ $0.size ?? 0 }) else { return false }
            guard size > MoveLimits.whole else {
                guard var found = try value.attributed() else { return false }
                defer { found.value.resetBytes(in: 0..<found.value.count) }
                keep(found.attributes)
                try add(item, to: writer) { take in try found.value.withUnsafeBytes { try take($0) } }
                return true
            }
            // What cannot be read is noticed before any of it is written.
            guard try value.digest() != nil, let attributes = try value.attributes() else { return false }
            keep(attributes)
        } catch {
            guard error.isOfOneValue else { throw error }
            report.failures[item.description] = error.message
            return false
        }
        try add(item, to: writer) { take in
            var failure: (any Error)?
            let found = try value.read(.chunks) { piece in
                do { try take(piece) } catch { failure = error }
                return failure == nil
            }
            if let failure { throw failure }
            // Bytes with the version or the end of another write would be read as something else.
            guard found, try value.attributes()?.kept == item.attributes else {
                throw StorageError(
                    .busy, "\(item.description) was \(found ? "changed" : "removed") while it was read",
                    hint: "run the backup again")
            }
        }
        return true
    }

    private func add(
        _ item: BackupItem, to writer: BackupWriter,
        _ pieces: (_ take: (UnsafeRawBufferPointer) throws -> Void) throws -> Void
    ) throws(StorageError) {
        try storageErrors { try writer.add(item, pieces) }
    }

    /// Writes the rings without the locations of what they have sealed: those are of this machine.
    private func addRings(to writer: BackupWriter, _ report: inout BackupReport) throws(StorageError) {
        guard let rings else { return }
        for (service, account) in rings.names {
            let item = BackupItem(kind: .ring, domain: "keychain", scope: service, name: account)
            let encoded: SecretBytes
            do throws(StorageError) {
                guard var state = try rings.state(service, account) else { continue }
                state.places = []
                encoded = try state.encoded()
            } catch {
                guard [.cannotOpen, .corrupt, .permissionDenied].contains(error.code) else { throw error }
                report.failures[item.description] = error.message
                continue
            }
            try add(item, to: writer) { take in try encoded.withBytes { try take($0) } }
            report.rings += 1
        }
    }
}

/// The stores of a backup, each opened once more for it: so no batch of a store is in the file by half. They are closed
/// with this object, when nobody uses their values any more.
private final class FrozenStores {
    private var opened: [String: (open: OpenStore, isOwn: Bool)] = [:]

    /// A domain's store. May wait.
    func store(of slot: StoreSlot) throws(StorageError) -> OpenStore {
        if let known = opened[slot.settings.name] { return known.open }
        let open = try slot.openFrozen()
        opened[slot.settings.name] = (open, open !== slot.current)
        return open
    }

    deinit { for (open, isOwn) in opened.values where isOwn { open.store.close() } }
}

/// The rings that seal and have sealed values of keys with an encryption policy, in order. Calls may wait.
private struct BackupRings {
    let list: RingList
    let names: [(service: String, account: String)]
    /// Why some of the list cannot be read, as a folder that this user may not read.
    let hidden: StorageError?

    /// - Returns: `nil` if no store serves the keychain.
    init?(_ snapshot: RouterSnapshot) throws(StorageError) {
        guard snapshot.settings.routes["keychain"] != nil else { return nil }
        list = try snapshot.rings.list()
        var names: [String: (String, String)] = [:]
        var hidden: StorageError?
        for (service, account) in [MasterRings.parts(of: snapshot.rings.current), MasterRings.parts(of: nil)]
            + (try list.entries { hidden = $0 }.filter { $0.kind == .ring }.map { ($0.service, $0.account) })
        {
            names["\(service)\0\(account)"] = (service, account)
        }
        self.hidden = hidden
        let ordered = names.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map(\.value)
        self.names = ordered.map { (service: $0.0, account: $0.1) }
    }

    /// A ring; `nil` if absent.
    ///
    /// - Throws: `corrupt`, also for a value that is not a ring.
    func state(_ service: String, _ account: String) throws(StorageError) -> KeyRingState? {
        let address = StorageAddress(StorageNamespace(domain: "keychain", scope: service), name: account)
        guard var stored = try list.open.value(at: address).get() else { return nil }
        defer { stored.resetBytes(in: 0..<stored.count) }
        return try stored.withBuffer { (bytes) throws(StorageError) in
            try KeyRingState(decoding: bytes, of: "the key ring '\(service)/\(account)'")
        }
    }

    /// Where the rings have sealed values, as far as they can be read.
    func places() -> Set<SealedPlace> {
        names.reduce(into: []) { places, name in
            places.formUnion((try? state(name.service, name.account))?.places ?? [])
        }
    }
}

/// The content of a backup.
package struct BackupReport: Encodable, Sendable {
    /// A domain in it.
    package struct Domain: Encodable, Sendable {
        package let domain: String
        /// The store that had its values.
        package let store: String
        package internal(set) var values = 0
    }

    package let file: String
    package internal(set) var domains: [Domain] = []
    /// The number of values of all domains.
    package internal(set) var values = 0
    /// The bytes of all values, rings and entries of the ledger.
    package internal(set) var bytes: UInt64 = 0
    /// The number of key rings.
    package internal(set) var rings = 0
    /// The number of entries of the ledger.
    package internal(set) var ledger = 0
    /// What could not be read and is not in the file, with the reason: values by their addresses, and domains whose
    /// store could not be opened.
    package internal(set) var failures: [String: String] = [:]

    init(file: String) { self.file = file }
}
