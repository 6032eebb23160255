internal import FoundationEssentials
internal import HostGround
internal import HostPlugins
internal import HostStores
package import LocalDataAPI

/// One migration in the ledger. It says no value: hashes are of bytes as the stores keep them.
package struct LedgerRow: Codable, Equatable, Sendable {
    /// A value that the migration wrote or removes.
    package struct Change: Codable, Equatable, Sendable {
        /// `domain[:scope]/name`, as the key says it.
        package let address: String
        let security: SecurityPolicy
        let serializer: SerializerFormat
        /// The folder and the place, if they are not what the address means.
        package let place: Place?
        /// The hash of what was there before; `nil` for nothing.
        var before: UInt64?
        /// The hash of what is there since; `nil` for nothing, and as long as that has not been read.
        var after: UInt64?
        /// The name under which what was there is kept.
        package var image: String?
        /// When what was there before expires, in nanoseconds since 1970 UTC, and its image with it; `nil` for never.
        var beforeExpires: Int64?
        /// When what is there since expires; `nil` for never.
        var afterExpires: Int64?
        /// The name of the hash by which a sealed value is known after it was re-encrypted: of what was written, see
        /// ``Ledger/witness(of:at:)``; of what is superseded, see ``SourceWitness``.
        package var witness: String?
        /// Whether the old value is unchanged at the destination, and has no image.
        var isMoved: Bool?
        /// Whether it was not removed, because someone had changed it.
        var isLeft: Bool?

        /// - Parameter mark: The hash of what is there; `nil` for nothing.
        init(_ key: AnyStorageKey, mark: UInt64?) {
            address = "\(key.descriptor.domain)/\(key.descriptor.name)"
            security = key.descriptor.security
            serializer = key.descriptor.serializer
            place = key.place.map { Place($0) }
            before = mark
        }

        /// The key, without its type.
        var key: AnyStorageKey {
            get throws(StorageError) {
                let parts = try StorageAddress.parts(of: address)
                func descriptor(_ domain: StorageDomain) -> StorageKeyDescriptor {
                    StorageKeyDescriptor(
                        name: parts.name ?? "", domain: domain, security: security, serializer: serializer, owner: "",
                        description: "")
                }
                if let place {
                    return AnyStorageKey(
                        descriptor(.custom(name: place.domain, scope: place.scope)),
                        at: StorageNamespace(domain: place.domain, scope: place.scope, directory: place.directory))
                }
                return AnyStorageKey(descriptor(try StorageDomain(name: parts.domain, scope: parts.scope)))
            }
        }
    }

    /// A place that is written out.
    package struct Place: Codable, Equatable, Sendable {
        package let domain: String
        package let scope: String
        package let directory: String?

        init(_ place: StorageNamespace) {
            domain = place.domain
            scope = place.scope
            directory = place.directory
        }
    }

    package let id: String
    let revision: Int
    package var state: MigrationRecord.State
    var written: [Change]
    package var removed: [Change]
    /// In nanoseconds since 1970 UTC.
    let committed: Int64
    /// In seconds.
    let duration: Double
    let appVersion: String?
    /// When the images go, in nanoseconds since 1970 UTC; `nil` if there are none.
    var expires: Int64?
    /// Whether one large value is moved: ``written`` is its destination, ``removed`` its source.
    var isLarge: Bool?
    /// The pack that the migration came from; `nil` for one of the app's own.
    var pack: MigrationPackIdentity?
    /// What has made the migration; `nil` if an app or a pack declares it.
    package var origin: MigrationOrigin?
    /// How far a migration of many keys is; those have no changes here.
    package var bulk: BulkProgress?
    /// The hashes of its sources when the key was last set or removed without it: those values are ignored.
    package var superseded: [Change]?
    /// Whether another device of the sync group led when the key was set or removed without it: what the sources had
    /// then is not brought any more, whatever the destination has.
    var wasLedByOther: Bool?
    /// Locations in a less protected store whose files may still have moved values.
    var unwiped: [String]?
    /// When the value was written that was brought from the key's former place, or to a key that takes part in sync, in
    /// nanoseconds since 1970 UTC.
    var sourceModified: Int64?

    /// Whether its images are kept no longer. Those of many keys go by themselves.
    func isExpired(at now: Int64) -> Bool {
        bulk == nil && state != .published && state != .copying && expires.map { $0 <= now } == true
    }

    /// Whether values of a migration of many keys have moved only as they were asked for: no run of all has begun.
    package var isOnlyOnDemand: Bool {
        guard state == .published, let bulk else { return false }
        return bulk.after == nil && !bulk.isOpen && bulk.isUndone != true
    }

    package var changes: [Change] { written + removed }

    var record: MigrationRecord {
        MigrationRecord(
            id: id, revision: revision, state: state,
            sources: bulk.map { [$0.source] } ?? removed.map(\.address),
            destinations: bulk.map { [$0.destination] } ?? written.map(\.address),
            date: Date(timeIntervalSince1970: Double(committed) / 1e9),
            duration: duration, appVersion: appVersion, pack: pack)
    }
}

extension LedgerRow.Change {
    /// Takes note of where the value before the migration is kept.
    mutating func keep(in image: BatchChange?) {
        self.image = image?.resolved.address.name
        beforeExpires = image?.resolved.attributes?.expires
    }

    /// Whether what was there before has expired, and its image with it.
    var isBeforeExpired: Bool { beforeExpires.map { $0 <= Ledger.now } ?? false }
    /// Whether what was there since has expired.
    var isAfterExpired: Bool { afterExpires.map { $0 <= Ledger.now } ?? false }
}

extension LedgerRow {
    /// The row of a run now.
    ///
    /// - Parameters:
    ///   - duration: How long the run took, in seconds.
    ///   - expires: When its images expire.
    init(
        _ migration: some DescribedMigration, _ state: MigrationRecord.State, after duration: Double = 0,
        _ settings: HostSettings, _ expires: Int64? = nil
    ) {
        self.init(
            id: migration.id, revision: migration.revision, state: state, written: [], removed: [],
            committed: Ledger.now, duration: duration, appVersion: settings.appVersion, expires: expires,
            pack: migration.pack, origin: migration.origin == .declared ? nil : migration.origin)
    }
}

extension StoreAccess {
    /// The value that a change of a row is about.
    func key(of change: LedgerRow.Change) async throws(StorageError) -> ResolvedKey {
        try await resolveUnlisted(KeyReference(try change.key))
    }
}

extension LedgerRow {
    /// Refuses to run a migration again that its pack does otherwise than it did, and does not say so.
    ///
    /// What it does is its fingerprint, if the pack gives it one and gave it one then; otherwise the plugin's file with
    /// the pack's options.
    ///
    /// - Throws: `packUnavailable` naming the pack, the migration, and both ways. What was rolled back counts as not
    ///   done.
    func requireSamePack(as migration: some DescribedMigration) throws(MigrationError) {
        guard let ran = pack, let now = migration.pack, state != .rolledBack, revision == migration.revision else {
            return
        }
        guard let before = ran.fingerprint, let fingerprint = now.fingerprint, ran.component == now.component else {
            return try requireSameBuild(ran, now)
        }
        guard before != fingerprint else { return }
        throw MigrationError(
            .packUnavailable,
            "the pack '\(now.name)' has changed its migration '\(id)' without a new revision: '\(ran)' ran revision "
                + "\(revision) with the fingerprint \(before), and '\(now)' would run it again with \(fingerprint); "
                + "undo the change, or raise the revision if the behaviour has changed")
    }

    private func requireSameBuild(
        _ ran: MigrationPackIdentity, _ now: MigrationPackIdentity
    ) throws(MigrationError) {
        guard ran.checksum != now.checksum else { return }
        throw MigrationError(
            .packUnavailable,
            "the pack '\(now.name)' has changed without a new revision: '\(ran)' (\(ran.component), checksum "
                + "\(ran.checksum)) ran revision \(revision), and '\(now)' (\(now.component), checksum "
                + "\(now.checksum)) would run it again; use the pack that ran it, or raise the revision if the "
                + "behaviour has changed")
    }
}

/// A value's attributes, as records beside the ledger keep them: one object with the known ones, and whether there are
/// any.
struct KeptAttributes: Codable {
    let attributes: ValueAttributes?

    private enum CodingKeys: CodingKey {
        case isThere
    }

    init(_ attributes: ValueAttributes?) { self.attributes = attributes?.kept }

    init(from decoder: any Decoder) throws {
        let isThere = try decoder.container(keyedBy: CodingKeys.self).decode(Bool.self, forKey: .isThere)
        attributes = isThere ? try ValueAttributes(from: decoder).kept : nil
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(attributes != nil, forKey: .isThere)
        try attributes?.encode(to: encoder)
    }
}
