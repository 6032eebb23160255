internal import FoundationEssentials
internal import HostGround
internal import HostPlugins
package import HostStores
package import LocalDataAPI

/// The pages of the ledgers in all stores, as they are. Touches nothing.
package struct LedgerSurvey: Sendable {
    /// A page that was found.
    package struct Page: Sendable {
        package let open: OpenStore
        /// Where it is kept.
        let place: ResolvedKey
        /// The destination that it belongs to, if that is known.
        package let address: String
        /// Its content, or why that cannot be read.
        package let content: Result<LedgerPage, StorageError>
    }

    /// Ordered by their stores and names.
    package private(set) var pages: [Page] = []
    /// Why the pages of a store cannot be found.
    private(set) var failures: [StorageError] = []
    /// The names of the images in each store that lists them.
    private(set) var images: [ObjectIdentifier: Set<String>] = [:]

    private let access: StoreAccess

    /// Looks at every store of the configuration.
    ///
    /// - Parameters:
    ///   - destinations: The keys whose pages are looked for in stores that list nothing.
    ///   - others: Names of stores that are not asked.
    init(
        _ access: StoreAccess, destinations: [AnyStorageKey], besides others: Set<String>
    ) async {
        self.access = access
        for slot in access.snapshot.stores where !others.contains(slot.settings.name) {
            do throws(StorageError) {
                let open = try await onIOThread { () throws(StorageError) in try slot.openIfNeeded() }
                if open.store.abilities.enumeration != nil {
                    try await list(open)
                } else {
                    for key in destinations { try await look(for: key, in: open) }
                }
            } catch {
                failures.append(error)
            }
        }
    }

    /// The pages that can be read.
    package var readable: [(place: Page, page: LedgerPage)] {
        pages.compactMap { found in (try? found.content.get()).map { (found, $0) } }
    }

    /// The ledger of a page.
    func ledger(of page: Page) throws(StorageError) -> Ledger { try Ledger(access, of: page.address, in: page.open) }

    private mutating func list(_ open: OpenStore) async throws(StorageError) {
        let names: [String] = try await open.write("listing the ledger in '\(open.name)'") {
            (store) throws(StorageError) in
            var names: [String] = []
            try store.forEachName(in: LedgerPlace.namespace) {
                names.append($0)
                return true
            }
            return names
        }
        images[ObjectIdentifier(open)] = Set(names.filter { $0.hasPrefix(LedgerPlace.imagePrefix) })
        for name in names where name.hasPrefix(LedgerPlace.pagePrefix) { try await add(name, in: open) }
    }

    private mutating func look(for key: AnyStorageKey, in open: OpenStore) async throws(StorageError) {
        guard let place = try? access.snapshot.settings.place(of: key.descriptor.domain),
            access.snapshot.settings.routes[place.domain]?.store.name == open.name
        else { return }
        let name = LedgerPlace.pageName(of: "\(StorageAddress(place, name: key.descriptor.name))")
        guard !pages.contains(where: { $0.open === open && $0.place.address.name == name }) else { return }
        try await add(name, in: open)
    }

    private mutating func add(_ name: String, in open: OpenStore) async throws(StorageError) {
        let place = try LedgerPlace.page(named: name, in: open, access.snapshot.settings)
        var address = String(name.dropFirst(LedgerPlace.pagePrefix.count))
        let content: Result<LedgerPage, StorageError>
        do throws(StorageError) {
            guard let stored = try await place.stored() else { return }
            let bytes = try await place.opened(stored)
            // Of a long address the name says only the beginning.
            if let said = LedgerPage.address(in: bytes), LedgerPlace.pageName(of: said) == name { address = said }
            content = .success(try LedgerPage(bytes, of: address))
        } catch {
            content = .failure(error)
        }
        pages.append(Page(open: open, place: place, address: address, content: content))
    }
}

extension MigrationEngine {
    /// The ledgers of all stores, and of the destinations of all migrations that are known.
    ///
    /// - Parameter others: Names of stores that are not asked.
    package func ledgers(besides others: Set<String> = []) async -> LedgerSurvey {
        await LedgerSurvey(
            access, destinations: registry.known.map(\.destinationKey), besides: others)
    }
}
