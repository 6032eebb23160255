internal import LocalDataAPI

extension StorageAuditReport {
    /// The audit of a router: its registered catalogs, and those that its configuration names.
    ///
    /// - Throws: What keeps the router's configuration from being loaded. A store that cannot be asked is part of the
    ///   report: see ``failures``.
    public static func make(of router: StorageRouter = .shared) async throws -> StorageAuditReport {
        try await make(of: router, in: .everything) { _ in }
    }

    /// The audit of some of what is stored, which hands out each key as it comes, so that not all are in memory.
    ///
    /// - Parameters:
    ///   - selection: The keys.
    ///   - limit: How many keys of each location are in ``entries`` besides those of catalogs; `nil` for all.
    ///   - take: Gets each key, in the order of ``entries``.
    /// - Throws: As ``make(of:)``; `invalidConfiguration` if no store serves the one selected domain.
    public static func make(
        of router: StorageRouter, in selection: StorageSelection, keeping limit: Int? = nil,
        _ take: (AuditEntry) -> Void
    ) async throws -> StorageAuditReport {
        let origin = Origin(await router.layers())
        var maker = AuditMaker(try await router.access(), selection: selection)
        return try await maker.report(origin, keeping: limit, take)
    }

    /// All keys of all registered catalogs as text, one flat list; what keeps it from being made, if something does.
    public static func renderGlobalRegistry(of router: StorageRouter = .shared) async -> String {
        do { return try await AuditText.flat(make(of: router)) } catch { return AuditText.failure(error) }
    }

    /// All keys of all registered catalogs as text, grouped by catalog; what keeps it from being made, if something
    /// does.
    public static func renderGlobalRegistryGrouped(of router: StorageRouter = .shared) async -> String {
        do { return try await AuditText.grouped(make(of: router)) } catch { return AuditText.failure(error) }
    }
}

extension StorageRouter {
    /// Where the configuration comes from, besides the built-in defaults.
    fileprivate func layers() async -> [String] {
        let layers = (try? await configuration())?.layered.layers ?? []
        return layers.filter { $0.name != .default }.map(\.source)
    }
}
