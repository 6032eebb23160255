internal import FoundationEssentials
internal import LocalDataAPI

extension StorageRouter {
    /// Copies every value of one store to another, or those of some domains: for the change of a domain from one to the
    /// other.
    ///
    /// Each value is read back and compared with what was copied. Values that the destination has already are left as
    /// they are, so an interrupted run is taken up by the next one. The source is only read, unless it is to be moved:
    /// then, when everything has arrived, each value is removed that the destination has too. What another process sets
    /// meanwhile is neither overwritten nor removed: it is copied again, or stays where it is and is in the report as
    /// changed. A store without transactions (a keyring) compares right before it changes. A store that is not
    /// configured is opened as the component of that name.
    ///
    /// - Parameters:
    ///   - domains: The names of the domains whose values are copied, with what it takes to undo their migrations; none
    ///     for all.
    ///   - moving: Whether to remove the values from the source in the end. The host's own keys stay as long as the
    ///     source serves the keychain.
    ///   - overwriting: Whether to replace values of which the destination has another.
    ///   - planOnly: Compares, and changes nothing.
    ///   - progress: Called after each value that was compared, copied or removed, on any thread.
    /// - Throws: `busy` if another process is at it, or if the destination has other values and is not to be
    ///   overwritten: then nothing was copied.
    public func copyStore(
        _ from: String, to: String, domains: [String] = [], moving: Bool = false, overwriting: Bool = false,
        planOnly: Bool = false,
        progress: @escaping @Sendable (StepProgress) -> Void = { _ in }
    ) async throws -> StoreCopyReport {
        let snapshot = try await snapshot()
        let domains = Set(domains).sorted()
        try snapshot.checkDomains(domains)
        return try await onIOThread { () throws(StorageError) in
            let copy = try Self.copy(from, to, domains, snapshot)
            var run = CopyRun(
                copy: copy, moving: moving, report: StoreCopyReport(from: from, to: to), progress: progress)
            let intent =
                planOnly
                ? nil
                : try CopyIntent.take(
                    from: from, to: to, domains: domains, moving: moving, folder: snapshot.settings.folders.journal)
            try run.look()
            if !run.report.conflicts.isEmpty, !overwriting, !planOnly {
                try intent?.finish()
                throw StorageError(
                    .busy,
                    "store '\(to)' has other values than '\(from)' at \(run.report.conflicts.count) addresses, e.g. "
                        + "'\(run.report.conflicts[0])'; nothing was copied",
                    hint: "see them with --plan; --overwrite replaces them")
            }
            if !planOnly, let key = try run.differentKey() {
                try intent?.finish()
                throw StorageError(
                    .busy,
                    "store '\(to)' has other keys than '\(from)' at '\(key)', which are never overwritten: what they "
                        + "seal would be lost; nothing was copied",
                    hint: "copy in the other direction, or values one by one: get and set")
            }
            guard !planOnly else {
                run.report.copied = run.missing.count + (overwriting ? run.report.conflicts.count : 0)
                if moving { try run.planRemoval(overwriting: overwriting) }
                return run.report
            }
            try run.copy(overwriting: overwriting)
            if moving {
                try run.remove()
                run.wipe()
            }
            try intent?.finish()
            return run.report
        }
    }

    /// Forgets a copy that was interrupted. What it has copied or moved so far stays so.
    ///
    /// - Throws: `notFound` if no such copy was interrupted; `busy` if a process is at it.
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
        let copy = StoreCopy(
            snapshot: snapshot, source: try source.openIfNeeded(), destination: try destination.openIfNeeded(),
            domains: domains)
        guard !copy.source.keepsSameValues(as: copy.destination) else {
            throw StorageError(
                .invalidConfiguration,
                "'\(from)' and '\(to)' keep their values in the same place, by two paths; nothing was copied",
                hint: "name two different stores")
        }
        for open in [copy.source, copy.destination] where open.store.abilities.enumeration == nil {
            throw StorageError(
                .unsupported, "store '\(open.name)' cannot list what it holds",
                hint: "copy value by value: get and set")
        }
        guard !copy.source.isKeychain || copy.destination.isKeychain else {
            throw StorageError(
                .securityApplicationFailed,
                "store '\(to)' would keep in plain what '\(from)' seals; nothing was copied",
                hint: "give it a sealing: ld-host config set stores.NAME.sealing keyFile")
        }
        return copy
    }
}
