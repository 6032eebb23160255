package import LocalDataAPI

extension MigrationError {
    /// The same as the error of a migration whose id is in the message.
    package func naming(_ id: String) -> MigrationError {
        var error = self
        error.migration = id
        return error
    }

    /// Whatever a migration threw, with its id in the message.
    package init(of id: String, _ error: any Error) {
        defer { migration = id }
        let name = "the migration '\(id)'"
        switch error {
        case let error as MigrationError:
            let isNamed = error.migration == id
            self.init(
                error.code, isNamed ? error.message : "\(name) failed: \(error.message)", underlying: error.underlying,
                from: error.from)
        case let error as StorageError:
            self.init(.storageFailed, "\(name) failed: \(error.message)", underlying: error)
        default: self.init(.transformationFailed, "\(name) failed: \(error)")
        }
    }
}
