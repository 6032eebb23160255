internal import HostGround
internal import HostStores
public import HostTransfer
internal import LocalDataAPI
internal import Synchronization

extension StorageRouter {
    /// Lets another store serve some domains, with their values, while programs go on using them. No call of a program
    /// of this user on this machine finds a value missing or old, and none is lost.
    ///
    /// ```swift
    /// try await router.switchStore(of: ["userDefaults"], to: "postgresql")
    /// ```
    ///
    /// The values are copied while programs change them, then writers are held for a moment, the last changes are
    /// copied, and the line `domains.<domain>` of the configuration file is changed, which programs follow. The former
    /// store's values are removed at the end. A switch that is interrupted is undone or finished by the next program.
    /// Backups, restores, copies, migrations, sync, resealing and the retirement of keys wait for it, and it for them.
    ///
    /// Not covered are programs of other users, on other machines, and in containers with a `/dev/shm` of their own:
    /// end those that use the domains before.
    ///
    /// - Parameters:
    ///   - domains: The names of the domains.
    ///   - store: The name of a store, or the id of a component.
    ///   - keepingSource: Whether the former stores keep their values.
    ///   - overwriting: Whether values of the domains that `store` has already may be replaced and removed.
    ///   - unsealing: Whether `store` may keep values plain that a former store seals.
    ///   - planOnly: Only counts, and changes nothing.
    ///   - limit: How long writers may be held. If that is not enough, nothing has changed.
    ///   - progress: Called as values have been copied and removed, on any thread.
    /// - Throws: `unsupported` for a configuration that is not of files, stores that cannot list their values, and the
    ///   keychain; `invalidConfiguration` if `store` cannot serve the domains, or their line is not what decides;
    ///   `conflict` if it has other values of them; `busy` if a program has been changing one of the stores for too
    ///   long, or another switch or work on whole stores is under way. Then nothing has changed.
    public func switchStore(
        of domains: [String], to store: String, keepingSource: Bool = false, overwriting: Bool = false,
        unsealing: Bool = false, planOnly: Bool = false, holdingAtMost limit: Duration = .seconds(2),
        progress: @escaping @Sendable (StepProgress) -> Void = { _ in }
    ) async throws -> StoreSwitchReport {
        let snapshot = try await snapshot()
        let domains = Set(domains).sorted()
        try snapshot.checkDomains(domains)
        guard let configuration = state.withLock({ $0.configuration }), let flags = configuration.sourceFlags else {
            throw StorageError(
                .unsupported, "the configuration of this program is not of files, so no other program could follow",
                hint: "copy the values, and change the program")
        }
        return try await onIOThread { () throws(StorageError) in
            let destination = try snapshot.slotOrComponent(store).openIfNeeded()
            var run = try StoreSwitch(snapshot, domains, to: destination, progress: progress)
            if run.isDone { return run.report }
            try run.check(unsealing: unsealing)
            if planOnly {
                try configuration.map(domains, to: store, flags: flags, planOnly: true) {
                    (next, former) throws(StorageError) in
                    try Self.check(next, former, run.report)
                }
                try run.plan(keepingSource: keepingSource, overwriting: overwriting)
                return run.report
            }
            let report = run.report
            try run.run(keepingSource: keepingSource, overwriting: overwriting, holdingAtMost: limit) {
                (bring) throws(StorageError) in
                try configuration.map(domains, to: store, flags: flags) { (next, former) throws(StorageError) in
                    try Self.check(next, former, report)
                    try bring()
                }
            } isCommitted: {
                let routes = try? configuration.readAgain()?.settings().routes
                return routes.map { routes in domains.allSatisfy { routes[$0]?.store.name == store } }
            } current: { () throws(StorageError) in
                try self.follow()
            }
            return run.report
        }
    }

    /// Refuses a line of configuration that would not decide, or with which the store could not be used, and a switch
    /// from a store that does not serve any more.
    private static func check(
        _ next: HostConfiguration, _ former: HostConfiguration, _ report: StoreSwitchReport
    ) throws(StorageError) {
        let (before, after) = (try former.settings().routes, try next.settings().routes)
        for part in report.parts {
            for domain in part.domains {
                guard before[domain]?.store.name == part.from else {
                    throw StorageError(
                        .busy,
                        "'\(domain)' is served by '\(before[domain]?.store.name ?? "")' since a moment ago; nothing was "
                            + "changed", hint: "try again")
                }
                guard let route = after[domain], route.store.name != report.to else { continue }
                throw StorageError(
                    .invalidConfiguration,
                    "'\(domain)' is mapped to '\(route.store.name)' by \(route.origin), which counts more than the file "
                        + "that would be changed; nothing was changed",
                    hint: "change it there, or name the file with --config")
            }
        }
        if let refusal = ConfigurationTrial(next, insteadOf: former).refusals.first {
            throw StorageError(.invalidConfiguration, "\(refusal.text); nothing was changed", hint: refusal.hint)
        }
    }
}
