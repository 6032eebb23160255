package import HostGround
internal import HostPlugins
internal import HostSealing
internal import HostStores
internal import LocalDataAPI
internal import Synchronization

/// What a change of the configuration would break, found before it is written.
package struct ConfigurationTrial: Sendable {
    /// What cannot work after the change.
    package private(set) var refusals: [Finding] = []
    /// What does not work now, and may work once something else was done, or may be meant.
    package private(set) var warnings: [Finding] = []

    /// Opens the stores that a change concerns: those that serve a domain only after it, and those that it configures
    /// in another way. One that serves nothing may be incomplete, since it is set up one setting after the other.
    /// Nobody is asked for a passphrase. May wait.
    ///
    /// - Parameters:
    ///   - next: The configuration with the change.
    ///   - former: The one before. If that is not valid, any change is welcome.
    package init(_ next: HostConfiguration, insteadOf former: HostConfiguration) {
        guard let before = try? former.settings(), let snapshot = try? Self.snapshot(next) else { return }
        let (stores, routes) = (snapshot.settings.stores, snapshot.settings.routes)
        let served = Dictionary(grouping: routes.keys) { routes[$0]?.store.name ?? "" }
        let changed = stores.keys.filter { before.stores[$0] != stores[$0] }
        let taking = routes.filter { before.routes[$0.key]?.store.name != $0.value.store.name }.map(\.value.store.name)
        for name in Set(changed + taking).sorted() {
            guard let slot = snapshot.slot(ofStore: name) else { continue }
            if let domains = served[name] { examine(slot, domains, snapshot) }
            guard let open = try? slot.openIfNeeded() else { continue }
            examineNeighbours(of: slot, open, served: Set(served.keys), snapshot)
        }
    }

    private static func snapshot(_ configuration: HostConfiguration) throws(StorageError) -> RouterSnapshot {
        var state = StorageRouter.State(declared: DeclaredKeys())
        state.configuration = configuration
        state.log = SilentLog()
        return try StorageRouter.snapshot(of: &state)
    }

    private mutating func examine(_ slot: StoreSlot, _ domains: [String], _ snapshot: RouterSnapshot) {
        let open: OpenStore
        do throws(StorageError) { open = try slot.openIfNeeded() } catch {
            refusals.append(Finding(.store, error))
            return
        }
        if domains.contains("keychain"), !open.isKeychain {
            refusals.append(
                Finding(
                    .domain, "'keychain' keeps keys and secrets, and store '\(open.name)' keeps plain values",
                    hint: "name a store that seals its values, such as sealed-files", isProblem: true))
        }
        refusals += Diagnosis.unwritable(in: slot)
        examineSealing(of: slot, open, snapshot)
        examineService(of: open)
    }

    /// Whether its sealed values can still be opened.
    private mutating func examineSealing(of slot: StoreSlot, _ open: OpenStore, _ snapshot: RouterSnapshot) {
        refusals += Diagnosis.sealing(of: slot, snapshot).filter(\.isProblem)
        guard let sealing = slot.settings.sealing, !sealing.source.asksForIt,
            open.store.properties.latency == .disk, refusals.isEmpty
        else { return }
        do throws(StorageError) { _ = try open.sealing?.ring.state() } catch {
            refusals.append(Finding(.sealing, "what store '\(open.name)' has sealed cannot be opened", error))
        }
    }

    /// Whether it keeps its values where another store does, and seals them in another way.
    private mutating func examineNeighbours(
        of slot: StoreSlot, _ open: OpenStore, served: Set<String>, _ snapshot: RouterSnapshot
    ) {
        for other in snapshot.stores.sorted(by: { $0.settings.name < $1.settings.name }) {
            guard other !== slot, other.settings.component == slot.settings.component,
                other.settings.sealing != slot.settings.sealing, let neighbour = try? other.openIfNeeded(),
                neighbour.keepsSameValues(as: open), let place = open.location.paths.first
            else { continue }
            let finding = Finding(
                .store,
                "store '\(open.name)' keeps its values where store '\(neighbour.name)' does, in "
                    + "\(PathText.shown(place)), and seals them in another way: neither can open the other's",
                hint: "give it a place of its own, by an option; see: ld-host plugins inspect \(open.component)",
                isProblem: true)
            if served.isSuperset(of: [open.name, neighbour.name]) {
                refusals.append(finding)
            } else {
                warnings.append(finding)
            }
        }
    }

    /// Whether the service behind it answers.
    private mutating func examineService(of open: OpenStore) {
        guard open.store.properties.latency.rawValue >= StoreProperties.Latency.network.rawValue,
            open.store.abilities.enumeration != nil
        else { return }
        do throws(StorageError) { try open.store.forEachPlace { _ in false } } catch {
            warnings.append(Finding(.store, "store '\(open.name)' cannot be used now", error))
        }
    }
}
