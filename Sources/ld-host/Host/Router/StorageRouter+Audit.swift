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
