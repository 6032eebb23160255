internal import FoundationEssentials
internal import HostGround
internal import HostMigration
internal import HostStores
internal import LocalDataAPI

// What an entry of the ledger names: a rollback writes there, and so does a value that returns from quarantine.
extension RestoreComparison {
    /// The most bytes of an entry that names addresses.
    static let largestEntry: UInt64 = 64 << 20

    /// Whether an entry names addresses: a page, or the record of a value in quarantine.
    static func namesAddresses(_ item: BackupItem) -> Bool {
        item.kind == .ledger
            && (item.name.hasPrefix(LedgerPlace.pagePrefix)
                || Quarantine.Kind.allCases.contains { item.name.hasPrefix($0.recordPrefix) })
    }

    /// - Throws: `securityApplicationFailed` if an entry names a folder that the user has not named. An entry that
    ///   nothing can read names none.
    func requireNamedFolders(inEntry bytes: Data, _ item: BackupItem) throws(StorageError) {
        var unnamed = UnnamedFolders()
        if let address = LedgerPage.address(in: bytes), let page = try? LedgerPage(bytes, of: address) {
            for row in page.rows {
                for change in row.changes + (row.superseded ?? []) { try add(change, to: &unnamed) }
                if let bulk = row.bulk {
                    for place in [bulk.source, bulk.destination] { try add("\(place)/_", to: &unnamed) }
                }
            }
            try add(address, to: &unnamed)
        } else if let record = try? QuarantineRecord(bytes, id: item.name) {
            try add(record.key, to: &unnamed)
        }
        guard !unnamed.isEmpty else { return }
        throw StorageError.unnamedFolders(
            unnamed, of: "\(item.description) in the backup '\(file.path)'", "nothing was restored")
    }

    private func add(_ change: LedgerRow.Change, to unnamed: inout UnnamedFolders) throws(StorageError) {
        guard let place = change.place else { return try add(change.address, to: &unnamed) }
        let namespace = StorageNamespace(domain: place.domain, scope: place.scope, directory: place.directory)
        let own = snapshot.addressable(namespace)
        // The folder is written out, and need not be the one that this configuration gives the place.
        guard let folder = place.directory, own?.directory.map({ $0.hasBytes(of: folder) }) != true else {
            return try add(own ?? namespace, change.address, to: &unnamed)
        }
        if !terms.folders.contains(folder) { unnamed.add(folder, change.address) }
    }

    private func add(_ address: String, to unnamed: inout UnnamedFolders) throws(StorageError) {
        guard let key = try? StorageKeyDescriptor(address: address),
            let place = try? snapshot.settings.place(of: key.domain)
        else { return }
        try add(place, address, to: &unnamed)
    }

    private func add(
        _ place: StorageNamespace, _ address: String, to unnamed: inout UnnamedFolders
    ) throws(StorageError) {
        guard place.chosenFolder != nil, let open = try? snapshot.slot(for: place.domain).openIfNeeded() else { return }
        let name = (try? StorageAddress.parts(of: address).name) ?? ""
        let full = StorageAddress(place, name: name)
        if let folder = try snapshot.unnamedFolder(of: full, in: open, besides: terms.folders) {
            unnamed.add(folder, address)
        }
    }
}
