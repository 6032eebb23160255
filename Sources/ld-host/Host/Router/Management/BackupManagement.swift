internal import FoundationEssentials
package import HostGround
package import HostSealing
internal import HostStores
package import HostTransfer
internal import LocalDataAPI

extension StorageRouter {
    /// Backups of values in one sealed file.
    package var backups: BackupManagement { BackupManagement(router: self) }

    /// Backups of values; see ``StorageRouter/backups``.
    package struct BackupManagement: Sendable {
        let router: StorageRouter
    }
}

extension StorageRouter.BackupManagement {
    /// Writes the values of some domains to one sealed file, with their attributes, the ledger of their migrations and
    /// the host's key rings.
    ///
    /// The values of a store are those of one moment if it can show them so. At least, no batch takes effect while
    /// they are read: the file never has half of a batch of one store. It has mode 0600, and is read back and verified
    /// before it gets its name.
    ///
    /// - Parameters:
    ///   - domains: Empty for all that a store serves; one whose store cannot be opened is left out then.
    ///   - overwriting: Whether to replace an existing file.
    ///   - style: How the file is sealed; `nil` for the best that the crypto provider offers.
    ///   - progress: Called after each value, on any thread; what it throws ends the backup.
    /// - Throws: Why a store cannot be read or the file cannot be written; then there is no new file.
    package func write(
        to path: String, domains: [String] = [], passphrase: BackupPassphrase, overwriting: Bool = false,
        style: EnvelopeStyle? = nil, progress: @escaping @Sendable (StepProgress) throws -> Void = { _ in }
    ) async throws -> BackupReport {
        let snapshot = try await router.snapshot()
        return try await onIOThread { () throws(StorageError) in
            let folders = snapshot.settings.folders
            let target = try BackupTarget(
                path, overwriting: overwriting, besides: [folders.data, folders.cache, folders.state, folders.config])
            let crypto = try snapshot.crypto.openIfNeeded()
            try snapshot.checkDomains(domains)
            // Before stores are frozen, which others may wait for.
            let key = try passphrase.key(of: path, isNew: true)
            return try SteadyWork.run(in: snapshot.settings.folders.state) { () throws(StorageError) in
                let run = try BackupRun(router.follow(), Array(Set(domains)), progress: progress)
                return try run.write(to: target, crypto, under: key, as: style ?? BackupFormat.style(crypto))
            }
        }
    }

    /// Restores the values of a backup into the stores that serve their domains now, all or none, even if the process
    /// is killed or the power fails. Values that only the stores have stay.
    ///
    /// The whole file is verified and compared before anything changes. A file is somebody's: its keys open what it
    /// brings, and those values are then sealed under a key of this user. Only if the terms say so do the user's rings
    /// get the keys of the file that they lack, to open with them; a ring that exists is never replaced. Values for
    /// folders outside of the host's own are restored only if the terms name the folders, a catalog names the keys, or
    /// a ring of this user has sealed values there.
    ///
    /// - Parameters:
    ///   - domains: Empty for all in the file.
    ///   - progress: Called after each value of each step, on any thread. What it throws ends the restore, unless that
    ///     is decided.
    /// - Throws: `cannotOpen` for a wrong passphrase, `corrupt` for a damaged file, `busy` if values differ and are not
    ///   to be replaced, `securityApplicationFailed` for folders that are not named, `invalidAddress` for a value that
    ///   no address names: then nothing has changed. `durabilityUnknown` if the restore is decided, but not completely
    ///   in place; the next program that opens the stores completes it.
    package func restore(
        from path: String, domains: [String] = [], passphrase: BackupPassphrase, _ terms: RestoreTerms = RestoreTerms(),
        progress: @escaping @Sendable (StepProgress) throws -> Void = { _ in }
    ) async throws -> RestoreReport {
        let snapshot = try await router.snapshot()
        return try await onIOThread { () throws(StorageError) in
            let file = try BackupFile(path)
            let crypto = try snapshot.crypto.openIfNeeded()
            _ = try file.header(crypto)
            let key = try passphrase.key(of: path, isNew: false)
            return try SteadyWork.run(in: snapshot.settings.folders.state) { () throws(StorageError) in
                let snapshot = try router.follow()
                BatchRecovery(snapshot: snapshot).recoverAll()
                try BatchIntent.requireNone(snapshot)
                let comparison = try RestoreComparison(
                    snapshot, file, crypto, key: key, terms, progress: progress)
                try comparison.look(domains)
                guard !terms.isPlan else { return comparison.report }
                try comparison.requireNamedFolders()
                try comparison.requireNoConflict()
                return try RestoreRun(comparison).restore()
            }
        }
    }
}
