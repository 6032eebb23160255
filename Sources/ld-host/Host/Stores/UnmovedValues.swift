internal import HostGround
internal import HostPlugins
internal import HostSealing
internal import LocalDataAPI

/// Encrypted values that an earlier version stored in the folder that the user names, beside the plain ones. They move
/// to their domain's own folder when they are used.
package struct UnmovedValues: Sendable {
    let domain: StorageDomain
    let count: Int

    /// All known ones. Never asks for a passphrase. May wait.
    ///
    /// - Parameter silent: Names of stores that do not answer.
    package static func all(_ snapshot: RouterSnapshot, besides silent: Set<String> = []) -> [UnmovedValues] {
        let settings = snapshot.settings
        let stores = [name, "keychain"].compactMap { settings.routes[$0]?.store }
        let isAsking = stores.contains { silent.contains($0.name) || $0.sealing?.source.asksForIt == true }
        guard stores.count == 2, !isAsking,
            let open = try? snapshot.slot(for: name).openIfNeeded(), open.store.abilities.enumeration != nil
        else { return [] }
        return domains(snapshot, open).sorted { "\($0)" < "\($1)" }.compactMap { domain in
            guard let adoption = FolderAdoption(domain, security: .recommended, in: open, snapshot),
                let count = try? adoption.count(), count > 0
            else { return nil }
            return UnmovedValues(domain: domain, count: count)
        }
    }

    /// The folders in catalogs, and those in which the master keys have sealed values.
    private static func domains(_ snapshot: RouterSnapshot, _ open: OpenStore) -> Set<StorageDomain> {
        let keys = [snapshot.described, snapshot.catalog].compactMap(\.self).flatMap(\.entries.values)
        let keychain = try? snapshot.slot(for: "keychain").openIfNeeded()
        // A system keyring may ask for its password.
        let isQuiet = keychain.map { [.memory, .disk].contains($0.store.properties.latency) } ?? false
        let ring = isQuiet ? try? snapshot.rings.ring(named: snapshot.rings.current).state() : nil
        let sealed = (ring?.places ?? []).filter {
            $0.identity == open.identity && $0.namespace.domain == name && $0.namespace.scope.hasPrefix("/")
        }
        return Set(keys.map(\.descriptor.domain) + sealed.map { snapshot.settings.domain(of: $0.namespace) })
    }

    private static let name = "encryptedFileSystem"

    package var text: String {
        "\(count) encrypted value\(count == 1 ? "" : "s") of '\(domain)' \(count == 1 ? "is" : "are") in the folder "
            + "itself, as in earlier versions; each moves to the folder '\(Self.name)' there at its next use"
    }

    /// The command that moves them all.
    package var hint: String { "move them now: ld-host ls \(domain)" }
}
