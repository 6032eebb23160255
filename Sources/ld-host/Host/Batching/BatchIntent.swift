internal import FoundationEssentials
internal import LocalDataAPI

/// The journal's entry of a batch: which values it changes, and whether it is decided. It contains no value.
struct BatchIntent: Codable {
    static let kind = "batch"

    struct Change: Codable {
        let domain: String
        let scope: String
        let directory: String?
        let name: String

        init(_ address: StorageAddress) {
            domain = address.place.domain
            scope = address.place.scope
            directory = address.place.directory
            name = address.name
        }

        var address: StorageAddress {
            StorageAddress(StorageNamespace(domain: domain, scope: scope, directory: directory), name: name)
        }
    }

    struct Store: Codable {
        let name: String
        /// See ``OpenStore/identity``.
        let identity: UInt64
        /// See ``AtomicScope/directory``.
        let folder: String?
        let changes: [Change]
    }

    /// Whether the batch takes effect. Until then nothing has changed, and the staged values are removed.
    var isDecided: Bool
    let stores: [Store]

    init(_ groups: [StagedGroup]) {
        isDecided = false
        stores = groups.map {
            Store(
                name: $0.open.name, identity: $0.open.identity, folder: $0.scope.directory,
                changes: $0.addresses.map { Change($0) })
        }
    }

    /// - Throws: `corrupt` if the payload is not such an entry.
    init(_ payload: Data, of id: IntentID) throws(StorageError) {
        do { self = try JSONDecoder().decode(Self.self, from: payload) } catch {
            throw StorageError(.corrupt, "the journal's entry \(id) of a batch is corrupt")
        }
    }

    func encoded() throws(StorageError) -> Data {
        do { return try JSONEncoder().encode(self) } catch {
            throw StorageError(.serializationFailed, "the journal's entry of a batch cannot be written: \(error)")
        }
    }

    /// A description for people.
    var subject: String {
        let count = stores.reduce(0) { $0 + $1.changes.count }
        let names = stores.map { "'\($0.name)'" }.joined(separator: ", ")
        return "a batch of \(count) changes in \(names)"
    }

    /// - Throws: `busy` if a batch was decided but is not in place: code that reads values one by one would see its old
    ///   values as current.
    static func requireNone(_ snapshot: RouterSnapshot) throws(StorageError) {
        let journal = try IntentJournal(folder: snapshot.settings.folders.journal)
        for pending in try journal.pending(kind: kind) where pending.state == .interrupted {
            guard try BatchIntent(pending.payload, of: pending.id).isDecided else { continue }
            throw StorageError(
                .busy, "\(pending.subject) was interrupted and must be completed first",
                hint: "the first use of its stores does that; if not, see: ld-host doctor")
        }
    }
}
