internal import FoundationEssentials
internal import LocalDataAPI

extension StorageRouter {
    /// Writes the values of some domains to one sealed file, with their attributes, the ledger of their migrations and
    /// the host's key rings.
    ///
    /// A value that an app changes meanwhile is in the file as it was when it was read. The file has mode 0600; it is
    /// read back and verified before it gets its name.
    ///
    /// - Parameters:
    ///   - domains: Empty for all that a store serves.
    ///   - overwriting: Whether to replace an existing file.
    ///   - style: How the file is sealed; `nil` for the best that the crypto provider offers.
    ///   - progress: Called after each value, on any thread.
    /// - Throws: Why a store cannot be read or the file cannot be written; then there is no new file.
    package func backUp(
        to path: String, domains: [String] = [], passphrase: BackupPassphrase, overwriting: Bool = false,
        style: EnvelopeStyle? = nil, progress: @escaping @Sendable (StepProgress) -> Void = { _ in }
    ) async throws -> BackupReport {
        let snapshot = try await snapshot()
        return try await onIOThread { () throws(StorageError) in
            let target = try BackupTarget(path, overwriting: overwriting)
            let crypto = try snapshot.crypto.openIfNeeded()
            let run = try BackupRun(snapshot, Array(Set(domains)), progress: progress)
            let key = try passphrase.key(of: path, isNew: true)
            return try run.write(to: target, crypto, under: key, as: style ?? BackupFormat.style(crypto))
        }
    }

    /// Restores the values of a backup into the stores that serve their domains now, all or none, even if the process
    /// is killed or the power fails. Values that only the stores have stay.
    ///
    /// The whole file is verified and compared before anything changes. Key rings that exist are never replaced.
    ///
    /// - Parameters:
    ///   - domains: Empty for all in the file.
    ///   - overwriting: Whether to replace different values.
    ///   - planOnly: Only verifies and compares.
    ///   - progress: Called after each value of each step, on any thread.
    /// - Throws: `cannotOpen` for a wrong passphrase, `corrupt` for a damaged file, `busy` if values differ and
    ///   `overwriting` is not set, or if keys differ: then nothing has changed. `durabilityUnknown` if the restore is
    ///   decided, but not completely in place; the next program that opens the stores completes it.
    package func restore(
        from path: String, domains: [String] = [], passphrase: BackupPassphrase, overwriting: Bool = false,
        planOnly: Bool = false, progress: @escaping @Sendable (StepProgress) -> Void = { _ in }
    ) async throws -> RestoreReport {
        let snapshot = try await snapshot()
        return try await onIOThread { () throws(StorageError) in
            let file = try BackupFile(path)
            let crypto = try snapshot.crypto.openIfNeeded()
            _ = try file.header(crypto)
            BatchRecovery(snapshot: snapshot).recoverAll()
            try BatchIntent.requireNone(snapshot)
            let key = try passphrase.key(of: path, isNew: false)
            let comparison = try RestoreComparison(
                snapshot, file, crypto, key: key, overwriting: overwriting, progress: progress)
            try comparison.look(domains)
            guard !planOnly else { return comparison.report }
            try comparison.requireNoConflict()
            return try RestoreRun(comparison).restore()
        }
    }
}
