package import FoundationEssentials
package import HostGround
package import LocalDataAPI

/// The journal's entry of a switch. Whether it is undone or finished is decided by the configuration: if that names the
/// new store, only the former one's values are left to be removed.
package struct SwitchIntent: Codable {
    package static let kind = "switch"

    /// The domains that leave one store.
    package struct Part: Codable {
        package let from: String
        package let domains: [String]
        /// The latest time of a value that was brought over, by the store's clock, once all were. What the store has of
        /// a later time was changed by somebody who does not follow. In nanoseconds since 1970 UTC.
        package var latest: Int64?
    }

    package var parts: [Part]
    package let to: String
    package let keepsSource: Bool

    package init(parts: [(from: String, domains: [String])], to: String, keepsSource: Bool) {
        self.parts = parts.map { Part(from: $0.from, domains: $0.domains) }
        (self.to, self.keepsSource) = (to, keepsSource)
    }

    /// - Throws: `corrupt` if the payload is not such an entry.
    package init(_ payload: Data, of id: IntentID) throws(StorageError) {
        guard let entry = try? JSONDecoder().decode(Self.self, from: payload) else {
            throw StorageError(.corrupt, "the journal's entry \(id) of a switch is corrupt")
        }
        self = entry
    }

    package func encoded() throws(StorageError) -> Data {
        do { return try JSONEncoder().encode(self) } catch {
            throw StorageError(.serializationFailed, "the journal's entry of a switch cannot be written: \(error)")
        }
    }

    /// What it does, for people.
    package var subject: String {
        let from = parts.map { "\($0.domains.joined(separator: ", ")) of store '\($0.from)'" }
        return "switching \(from.joined(separator: ", ")) to store '\(to)'"
    }

    /// The stores that values of a domain are on the way to, or are being removed from: what they have counts for
    /// nothing as long as another one serves the domain.
    package static func stores(of domain: String, _ settings: HostSettings) -> Set<String> {
        let pending = (try? IntentJournal(folder: settings.folders.journal).pending(kind: kind)) ?? []
        return pending.reduce(into: []) { stores, pending in
            guard let entry = try? SwitchIntent(pending.payload, of: pending.id) else { return }
            for part in entry.parts where part.domains.contains(domain) { stores.formUnion([entry.to, part.from]) }
        }
    }
}
