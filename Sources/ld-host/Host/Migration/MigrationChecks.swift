internal import LocalDataAPI

/// What is asked alike by a run and by a plan of it.
extension AnyStorageMigration {
    /// Whether the destination is one of the sources.
    func changesInPlace(at destination: StorageAddress, _ settings: HostSettings) -> Bool {
        sources.contains { source in
            guard let place = source.place ?? (try? settings.place(of: source.descriptor.domain)) else { return false }
            return StorageAddress(place, name: source.descriptor.name) == destination
                && place.directory == destination.place.directory
        }
    }

    /// - Throws: `validationFailed` if a run that reports success has not had its effect.
    func requireEffect(_ hasDestination: Bool, at destination: StorageAddress) throws(MigrationError) {
        guard hasDestination != (effect == .brings) else { return }
        let missing =
            switch effect {
            case .brings: "written nothing to '\(destination)'"
            case .removes: "not removed '\(destination)'"
            }
        throw MigrationError(.validationFailed, "it reports success, and has \(missing)")
    }
}

extension LedgerRow {
    /// - Throws: `newerRevision` if a later revision of the migration has been here.
    func requireNoLater(than known: Int, at destination: String) throws(MigrationError) {
        guard revision <= known else {
            throw MigrationError(
                .newerRevision,
                "revision \(revision) has brought the data of '\(destination)', and this program has "
                    + "revision \(known); use a later version of the program")
        }
    }
}

extension MigrationError {
    /// The destination has a value, which is not to be replaced.
    static func conflict(at destination: StorageAddress) -> MigrationError {
        MigrationError(.conflict, "'\(destination)' has a value, and there is data to migrate to it")
    }

    /// What is kept of a value is not what was there.
    static func damagedImage(of address: StorageAddress, _ id: String) -> MigrationError {
        MigrationError(
            .validationFailed,
            "what is kept of '\(address)' from before the migration '\(id)' is damaged, so that stays done")
    }

    /// What a result without success says.
    static func unsuccessful(_ result: MigrationResult) -> MigrationError {
        result.errors.first ?? MigrationError(.validationFailed, "it reports that it did not succeed")
    }
}
