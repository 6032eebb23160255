internal import FoundationEssentials
public import HostGround
internal import HostPlugins
internal import HostStores
public import HostTransfer
public import LocalDataAPI

extension StorageRouter {
    /// The stores that domains are mapped to: copying one to another, and what they keep.
    public var stores: StoreManagement { StoreManagement(router: self) }

    /// Managing the stores that domains are mapped to; see ``StorageRouter/stores``.
    public struct StoreManagement: Sendable {
        let router: StorageRouter
    }
}

extension StorageRouter.StoreManagement {
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
    public func copy(
        _ from: String, to: String, domains: [String] = [], moving: Bool = false,
        choosing choice: StoreCopyChoice? = nil, planOnly: Bool = false,
        progress: @escaping @Sendable (StepProgress) -> Void = { _ in }
    ) async throws -> StoreCopyReport {
        let domains = Set(domains).sorted()
        let snapshot = try await router.snapshot()
        try snapshot.checkDomains(domains)
        return try await onIOThread { () throws(StorageError) in
            try SteadyWork.run(in: snapshot.settings.folders.state) { () throws(StorageError) in
                try Self.copy(
                    try router.follow(), from, to, domains, moving: moving, choosing: choice, planOnly: planOnly,
                    progress: progress)
            }
        }
    }

    private static func copy(
        _ snapshot: RouterSnapshot, _ from: String, _ to: String, _ domains: [String], moving: Bool,
        choosing choice: StoreCopyChoice?, planOnly: Bool, progress: @escaping @Sendable (StepProgress) -> Void
    ) throws(StorageError) -> StoreCopyReport {
        let copy = try prepare(from, to, domains, snapshot)
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
            if run.report.isComplete {
                let served = domains.isEmpty ? Array(snapshot.settings.routes.keys) : domains
                try RouteHistory(snapshot.settings.folders).emptied(from, of: served)
            }
        } else {
            try run.remember()
        }
        try intent?.finish()
        return run.report
    }

    /// Forgets an interrupted copy. What it has copied or moved so far stays that way.
    ///
    /// - Throws: `notFound` if no such copy was interrupted; `busy` if a process is copying.
    public func giveUpCopy(_ from: String, to: String, domains: [String] = []) async throws {
        let folder = try await router.snapshot().settings.folders.journal
        try await onIOThread { () throws(StorageError) in
            try CopyIntent.giveUp(from: from, to: to, domains: Set(domains).sorted(), folder: folder)
        }
    }

    private static func prepare(
        _ from: String, _ to: String, _ domains: [String], _ snapshot: RouterSnapshot
    ) throws(StorageError) -> StoreCopy {
        let (source, destination) = (snapshot.slotOrComponent(from), snapshot.slotOrComponent(to))
        let (left, right) = (source.settings, destination.settings)
        guard left.name != right.name, left.component != right.component || left.options != right.options else {
            throw StorageError(
                .invalidConfiguration, "'\(from)' and '\(to)' are the same store", hint: "name two different stores")
        }
        let copy = try StoreCopy(
            snapshot: snapshot, source: try source.openIfNeeded().forMoving,
            destination: try destination.openIfNeeded().forMoving, domains: domains)
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

extension StorageRouter.StoreManagement {
    /// The names of the stores that have served a domain before the configuration was changed, in order.
    package func former() async throws -> [String] {
        RouteHistory(try await router.snapshot().settings.folders).stores
    }

    /// Stops a diagnosis from reporting values that a store keeps of domains that it does not serve. The values stay.
    ///
    /// - Parameters:
    ///   - name: A store. One that served before the configuration was changed is no longer examined, unless domains
    ///     are named.
    ///   - domains: The domains; empty for all that have values.
    /// - Throws: `notFound` if there is nothing to forget.
    public func forgetLeftValues(in name: String, domains: [String] = []) async throws {
        let snapshot = try await router.snapshot()
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

extension StorageRouter.StoreManagement {
    /// Removes what batches have staged in a store whose record is lost. The values stay as they are, whether the batch
    /// has set them or not.
    ///
    /// - Returns: The number of such batches.
    /// - Throws: `notFound` if there are none.
    @discardableResult
    public func discardAbandonedBatches(in name: String) async throws -> Int {
        let snapshot = try await router.snapshot()
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

/// The store of a domain, and what of its values has expired.
extension StorageRouter.StoreManagement {
    /// The store, component and plugin that serve a domain, and why; `nil` for a domain of the host's own.
    ///
    /// - Throws: `invalidConfiguration` if the domain has no store; the error of opening the store.
    public func route(of domain: String) async throws -> DomainRoute? { try await router.access().route(of: domain) }

    /// Passes the names of a domain's values that have expired and are still kept, in no order; the next list of the
    /// domain removes them.
    ///
    /// - Throws: `unsupported` if the store's values cannot expire.
    public func expiredNames(in domain: StorageDomain, prefix: String = "") async throws -> [String] {
        let access = try await router.access()
        let open = try await access.openStore(for: domain.name)
        let place = try access.snapshot.settings.place(of: domain)
        return try await open.write("listing what has expired in '\(place)'") { (store) throws(StorageError) in
            var names: [String] = []
            try store.forEachExpired(in: place) { name in
                if name.utf8.starts(with: prefix.utf8) { names.append(name) }
                return true
            }
            return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        }
    }

    /// Removes a domain's values that have expired. Reads, lists and writes do that as they go; this is for a program
    /// that wants their space back at once.
    ///
    /// - Returns: The number of removed values.
    /// - Throws: `unsupported` if the store's values cannot expire.
    @discardableResult
    public func removeExpired(in domain: StorageDomain) async throws -> Int {
        let access = try await router.access()
        let open = try await access.openStore(for: domain.name)
        let place = try access.snapshot.settings.place(of: domain)
        return try await open.write("sweeping '\(place)'") { (store) throws(StorageError) in
            guard store.abilities.expiry != nil else { throw store.lacks("expiry") }
            var removed = 0
            while true {
                let count = try store.sweep(place, limit: 4096)
                removed += count
                if count < 4096 { return removed }
            }
        }
    }
}
