internal import LocalDataAPI

extension StorageAuditReport {
    /// The audit of a router: its registered catalogs, and those that its configuration names.
    ///
    /// - Throws: Why the router's configuration cannot be loaded. Stores that cannot be read are part of the report:
    ///   see ``failures``.
    public static func make(of router: StorageRouter = .shared) async throws -> StorageAuditReport {
        try await make(of: router, in: .everything) { _ in }
    }

    /// The audit of a selection, which passes on each key at once, so that not all are in memory.
    ///
    /// - Parameters:
    ///   - selection: The keys.
    ///   - limit: How many keys per location are in ``entries`` besides those of catalogs; `nil` for all.
    ///   - take: Called with each key, in the order of ``entries``.
    /// - Throws: As ``make(of:)``; `invalidConfiguration` if no store serves the one selected domain.
    public static func make(
        of router: StorageRouter, in selection: StorageSelection, keeping limit: Int? = nil,
        _ take: (AuditEntry) -> Void
    ) async throws -> StorageAuditReport {
        let origin = Origin(await router.layers())
        var maker = AuditMaker(try await router.access(), selection: selection)
        return try await maker.report(origin, keeping: limit, take)
    }

    /// All keys of all registered catalogs as text, in one flat list; the error if it cannot be made.
    public static func renderGlobalRegistry(of router: StorageRouter = .shared) async -> String {
        do { return try await AuditText.flat(make(of: router)) } catch { return AuditText.failure(error) }
    }

    /// All keys of all registered catalogs as text, grouped by catalog; the error if it cannot be made.
    public static func renderGlobalRegistryGrouped(of router: StorageRouter = .shared) async -> String {
        do { return try await AuditText.grouped(make(of: router)) } catch { return AuditText.failure(error) }
    }
}

extension StorageRouter {
    /// The sources of the configuration besides the built-in defaults.
    fileprivate func layers() async -> [String] {
        let layers = (try? await configuration())?.layered.layers ?? []
        return layers.filter { $0.name != .default }.map(\.source)
    }
}

extension Diagnosis {
    /// Examines everything that a router needs; continues after a problem where it can.
    ///
    /// - Parameters:
    ///   - repairing: Whether stores first repair damage that blocks changes.
    ///   - unchecked: The configuration, valid or not, if it can be read.
    package static func run(
        repairing: Bool = false, of unchecked: HostConfiguration? = nil, _ make: () throws -> StorageRouter
    ) async -> [Finding] {
        do {
            return await findings(of: try await make().engine(), repairing: repairing)
        } catch {
            let error = (error as? StorageError) ?? StorageError(.unknown, "\(error)")
            return await findings(withoutRouter: unchecked, error)
        }
    }

    /// Reads every value of every store and compares it with the record of its last write; opens sealed values. Holds
    /// some thousand names in memory at most. Takes as long as reading everything.
    ///
    /// - Parameter progress: Called after each value with the number so far, on any thread.
    package static func scrub(
        _ make: () throws -> StorageRouter, progress: @escaping @Sendable (_ done: Int) -> Void
    ) async -> [Finding] {
        do {
            return try await scrub(make().snapshot(), progress)
        } catch {
            return [
                Finding("the stores cannot be read", (error as? StorageError) ?? StorageError(.unknown, "\(error)"))
            ]
        }
    }
}

extension StorageRouter {
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

extension RouterSnapshot {
    /// - Throws: `invalidAddress` for a domain without a store.
    func checkDomains(_ domains: [String]) throws(StorageError) {
        for domain in domains where settings.routes[domain] == nil {
            let near = EditDistance.nearest(to: domain, in: settings.routes.keys.sorted(), within: 2)
            throw StorageError(
                .invalidAddress, "no store is mapped to the domain '\(domain)'",
                hint: near.map { "did you mean '\($0)'?" }
                    ?? "expected one of \(settings.routes.keys.sorted().joined(separator: ", "))")
        }
    }
}
