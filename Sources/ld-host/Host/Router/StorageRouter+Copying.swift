internal import FoundationEssentials
public import HostGround
internal import HostPlugins
package import HostSealing
internal import HostStores
public import HostTransfer
internal import LocalDataAPI

extension StorageRouter {
    /// Copies every value of one store to another, or those of some domains, so that a domain can change its store.
    ///
    /// Each value is read back and compared. Values that the destination already has stay as they are, so the next run
    /// resumes an interrupted one. Of two different values whose times are both known, the later one counts. A run that
    /// does not move remembers what it has copied: if a value was removed from one store since, it stays in the other.
    /// Differences that nobody has decided hold up no other value, and are reported. The source is only read, unless
    /// `moving` is set: then, after everything has been copied, each value that the destination has too is removed from
    /// the source, and so is each that the destination has a later value of. Values that another process sets during
    /// the run are neither overwritten nor removed: they are copied again, or stay where they are and are reported as
    /// changed. A store without transactions (a keyring) compares right before it changes. If no store of a name is
    /// configured, the component of that name is opened.
    ///
    /// - Parameters:
    ///   - domains: The names of the domains to copy, with what is needed to roll back their migrations and to sync
    ///     them; empty for all.
    ///   - moving: Whether to remove the values from the source at the end. The host keys stay as long as the source
    ///     serves the keychain.
    ///   - choice: Which of two different values counts if it is not known which was written later: one of the times
    ///     is not known, or they are at most 10 ms apart, or an interrupted run may have copied one; `nil` for none,
    ///     and both stay. The source's also brings back what was removed from the destination.
    ///   - planOnly: Only compares, and changes nothing.
    ///   - progress: Called after each value that was compared, copied or removed, on any thread.
    /// - Throws: `busy` if another process is copying.
    public func copyStore(
        _ from: String, to: String, domains: [String] = [], moving: Bool = false,
        choosing choice: StoreCopyChoice? = nil, planOnly: Bool = false,
        progress: @escaping @Sendable (StepProgress) -> Void = { _ in }
    ) async throws -> StoreCopyReport {
        let snapshot = try await snapshot()
        let domains = Set(domains).sorted()
        try snapshot.checkDomains(domains)
        return try await onIOThread { () throws(StorageError) in
            let copy = try Self.copy(from, to, domains, snapshot)
            let wasInterrupted = try CopyIntent.isInterrupted(
                from: from, to: to, folder: snapshot.settings.folders.journal)
            var run = CopyRun(
                copy: copy, moving: moving, choosing: choice, isResumed: wasInterrupted,
                report: StoreCopyReport(from: from, to: to), progress: progress)
            let taken =
                planOnly
                ? nil
                : try CopyIntent.take(
                    from: from, to: to, domains: domains, moving: moving, folder: snapshot.settings.folders.journal)
            let intent = taken?.intent
            try run.look()
            do throws(StorageError) { try copy.requireConsent(toSeal: run.missing, moving: moving) } catch {
                try intent?.finish()
                throw error
            }
            guard !planOnly else {
                run.planCopy()
                if moving { try run.planRemoval() }
                return run.report
            }
            try run.copyAll()
            try run.noteMove()
            if moving {
                try run.remove()
                run.wipe(isResumed: taken?.isResumed == true)
            } else {
                try run.remember()
            }
            try intent?.finish()
            return run.report
        }
    }

    /// Forgets an interrupted copy. What it has copied or moved so far stays that way.
    ///
    /// - Throws: `notFound` if no such copy was interrupted; `busy` if a process is copying.
    public func giveUpCopy(_ from: String, to: String, domains: [String] = []) async throws {
        let folder = try await snapshot().settings.folders.journal
        try await onIOThread { () throws(StorageError) in
            try CopyIntent.giveUp(from: from, to: to, domains: Set(domains).sorted(), folder: folder)
        }
    }

    private static func copy(
        _ from: String, _ to: String, _ domains: [String], _ snapshot: RouterSnapshot
    ) throws(StorageError) -> StoreCopy {
        let (source, destination) = (snapshot.slotOrComponent(from), snapshot.slotOrComponent(to))
        let (left, right) = (source.settings, destination.settings)
        guard left.name != right.name, left.component != right.component || left.options != right.options else {
            throw StorageError(
                .invalidConfiguration, "'\(from)' and '\(to)' are the same store", hint: "name two different stores")
        }
        let copy = try StoreCopy(
            snapshot: snapshot, source: try source.openIfNeeded(), destination: try destination.openIfNeeded(),
            domains: domains)
        guard !copy.source.keepsSameValues(as: copy.destination) else {
            throw StorageError(
                .invalidConfiguration,
                "'\(from)' and '\(to)' keep their values in the same location, by two paths; nothing was copied",
                hint: "name two different stores")
        }
        for open in [copy.source, copy.destination] where open.store.abilities.enumeration == nil {
            throw StorageError(
                .unsupported, "store '\(open.name)' cannot list its values",
                hint: "copy each value with ld-host get and ld-host set")
        }
        guard !copy.source.isKeychain || copy.destination.isKeychain else {
            throw StorageError(
                .securityApplicationFailed,
                "store '\(to)' would keep values plain that '\(from)' seals; nothing was copied",
                hint: "seal it: ld-host config set stores.NAME.sealing keyFile")
        }
        guard !copy.destination.isGoneWithProcess else {
            throw StorageError(
                .unsupported, "store '\(to)' keeps values only while a program runs; nothing was copied",
                hint: "name a store that keeps them")
        }
        return copy
    }
}

extension StorageRouter {
    /// The names of the stores that have served a domain before the configuration was changed, in order.
    package func formerStores() async throws -> [String] {
        RouteHistory(try await snapshot().settings.folders).stores
    }

    /// Stops a diagnosis from reporting values that a store keeps of domains that it does not serve. The values stay.
    ///
    /// - Parameters:
    ///   - name: A store. One that served before the configuration was changed is no longer examined, unless domains
    ///     are named.
    ///   - domains: The domains; empty for all that have values.
    /// - Throws: `notFound` if there is nothing to forget.
    public func forgetLeftValues(in name: String, domains: [String] = []) async throws {
        let snapshot = try await snapshot()
        try await onIOThread { () throws(StorageError) in
            let history = RouteHistory(snapshot.settings.folders)
            if domains.isEmpty, snapshot.slot(ofStore: name) == nil { return try history.remove(name) }
            try snapshot.checkDomains(domains)
            let left = snapshot.leftValues(in: snapshot.slotOrComponent(name)).map(\.domain)
            let chosen = domains.isEmpty ? left : left.filter(domains.contains)
            guard !chosen.isEmpty else {
                throw StorageError(
                    .notFound,
                    "store '\(name)' has no values\(domains.isEmpty ? "" : " of \(domains.joined(separator: ", "))") "
                        + "but of domains that it serves")
            }
            try history.acknowledge(chosen, in: name)
        }
    }
}

extension StorageRouter {
    /// Removes what batches have staged in a store whose record is lost. The values stay as they are, whether the batch
    /// has set them or not.
    ///
    /// - Returns: The number of such batches.
    /// - Throws: `notFound` if there are none.
    @discardableResult
    public func discardAbandonedBatches(in name: String) async throws -> Int {
        let snapshot = try await snapshot()
        return try await onIOThread { () throws(StorageError) in
            let open = try snapshot.slotOrComponent(name).openIfNeeded()
            return try StagedBatch.lock(snapshot).exclusive { (_) throws(StorageError) in
                let found = try AbandonedBatch.find(in: open, snapshot)
                guard !found.isEmpty else {
                    throw StorageError(
                        .notFound, "store '\(name)' has nothing of a batch whose record is lost",
                        hint: "see: ld-host doctor")
                }
                for batch in found { try batch.discard() }
                return found.count
            }
        }
    }
}

extension StorageRouter {
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
    package func backUp(
        to path: String, domains: [String] = [], passphrase: BackupPassphrase, overwriting: Bool = false,
        style: EnvelopeStyle? = nil, progress: @escaping @Sendable (StepProgress) throws -> Void = { _ in }
    ) async throws -> BackupReport {
        let snapshot = try await snapshot()
        return try await onIOThread { () throws(StorageError) in
            let target = try BackupTarget(path, overwriting: overwriting)
            let crypto = try snapshot.crypto.openIfNeeded()
            try snapshot.checkDomains(domains)
            // Before stores are frozen, which others may wait for.
            let key = try passphrase.key(of: path, isNew: true)
            let run = try BackupRun(snapshot, Array(Set(domains)), progress: progress)
            return try run.write(to: target, crypto, under: key, as: style ?? BackupFormat.style(crypto))
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
    ///   - progress: Called after each value of each step, on any thread.
    /// - Throws: `cannotOpen` for a wrong passphrase, `corrupt` for a damaged file, `busy` if values differ and are not
    ///   to be replaced, `securityApplicationFailed` for folders that are not named, `invalidAddress` for a value that
    ///   no address names: then nothing has changed. `durabilityUnknown` if the restore is decided, but not completely
    ///   in place; the next program that opens the stores completes it.
    package func restore(
        from path: String, domains: [String] = [], passphrase: BackupPassphrase, _ terms: RestoreTerms = RestoreTerms(),
        progress: @escaping @Sendable (StepProgress) -> Void = { _ in }
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
                snapshot, file, crypto, key: key, terms, progress: progress)
            try comparison.look(domains)
            guard !terms.isPlan else { return comparison.report }
            try comparison.requireNamedFolders()
            try comparison.requireNoConflict()
            return try RestoreRun(comparison).restore()
        }
    }
}
