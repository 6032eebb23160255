internal import HostSealing
internal import HostStores
internal import LocalDataAPI

/// The key rings of a backup. They open the values that it brings, and are kept only if the user takes them. Used by
/// one thread at a time.
struct BackupKeys {
    /// A key as a header names it.
    private struct Name: Hashable {
        let ring: String?
        let id: KeyID
    }

    private let rings: MasterRings
    private var states: [String?: KeyRingState] = [:]
    private var present: [Name: Bool] = [:]

    /// - Parameter rings: Those of this host.
    init(_ rings: MasterRings) { self.rings = rings }

    mutating func add(_ state: KeyRingState, _ service: String, _ account: String) {
        states[MasterRings.name(service, account)] = state
    }

    /// Whether a ring that this host trusts has a key. May wait.
    mutating func isHere(_ id: KeyID, of ring: String?) throws(StorageError) -> Bool {
        let name = Name(ring: ring, id: id)
        if let known = present[name] { return known }
        let found: Bool
        do throws(StorageError) { found = try rings.ring(named: ring).state()?[id] != nil } catch {
            // A ring that is not trusted opens nothing, and neither does a name that no ring can have.
            guard [.cannotOpen, .invalidAddress].contains(error.code) else { throw error }
            found = false
        }
        present[name] = found
        return found
    }

    /// The backup's key that a header names; `nil` also for one that its maker has disabled.
    func key(of header: EnvelopeHeader) -> EnvelopeKey? {
        guard let entry = states[header.ring]?[header.keyID], entry.use != .disabled else { return nil }
        return EnvelopeKey(entry.material, id: entry.id, ring: header.ring)
    }
}
