internal import Glibc
package import HostGround
package import HostPlugins
public import HostStores
internal import HostTransfer
package import LocalDataAPI

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
            let router = try make()
            let findings = await findings(of: try await router.engine(), repairing: repairing)
            return findings
                + (await router.syncFindings()).filter { finding in
                    !findings.contains { $0.text == finding.text }
                }
        } catch {
            let error = StorageError(wrapping: error)
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
                Finding(.scrub, "the stores cannot be read", StorageError(wrapping: error))
            ]
        }
    }
}

extension StorageRouter {
    /// What keeps this device from syncing, and what waits for a person.
    fileprivate func syncFindings() async -> [Finding] {
        // Other findings report a store that cannot be read.
        guard let snapshot = try? await snapshot() else { return [] }
        guard (try? await SyncDevice.keptStanding(snapshot)) ?? nil != nil else { return snapshot.unsyncedKeys }
        do {
            guard snapshot.transport != nil else {
                return [
                    Finding(
                        .sync,
                        "this device is in a sync group, but the configuration names no transport, so nothing is synced",
                        hint: "name it again: ld-host config set sync.transport", isProblem: true)
                ]
            }
            let count = try await syncGroup.report().removalsToAccept
            guard count > 0 else { return [] }
            return [
                Finding(
                    .sync, "sync waits with \(count.counted("removal")) by other devices, since they are so many",
                    hint: "apply them: ld-host sync accept", isProblem: true)
            ]
        } catch {
            return [Finding(.sync, "sync", StorageError(wrapping: error))]
        }
    }

    /// Tests that a configured store can be used; see ``StoreTest``.
    ///
    /// - Parameter name: The store's name, or the id of its component.
    /// - Throws: `invalidConfiguration` if there is no such store.
    package func testStore(_ name: String) async throws -> [StoreTest.Step] {
        let snapshot = try await snapshot()
        guard let slot = snapshot.slot(ofStore: name) else {
            throw StorageError(
                .invalidConfiguration, "there is no store '\(name)'",
                hint: "use one of: \(snapshot.stores.map(\.settings.name).sorted().joined(separator: ", "))")
        }
        return try await onIOThread { () throws(StorageError) in StoreTest.run(slot) }
    }
}

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
        var report = try await maker.report(origin, keeping: limit, take)
        report.findings = await Diagnosis.besideKeys(
            try await router.snapshot(), ofDomain: selection.domain, files: origin.configuration,
            besides: Set(maker.silent.keys))
        return report
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

/// Information on plugins and stores, for tools.
extension StorageRouter {
    /// Every plugin of this program and on the search path, inspected again.
    package func plugins() async throws(StorageError) -> [PluginRecord] {
        let registry = try await snapshot().registry
        return try await onIOThread { () throws(StorageError) in registry.records(rescanning: .all) }
    }

    /// Every plugin of this program and on the search path, as it was inspected last.
    package func knownPlugins() async throws(StorageError) -> [PluginRecord] {
        let registry = try await snapshot().registry
        return try await onIOThread { () throws(StorageError) in registry.records() }
    }

    /// One plugin's file, inspected in a child process.
    package func inspectPlugin(at path: String) async throws(StorageError) -> PluginRecord {
        let snapshot = try await snapshot()
        let inspector = PluginInspector(
            host: PluginInspector.installedHost, timeout: snapshot.settings.inspectionTimeout)
        return try await onIOThread { () throws(StorageError) in
            PluginRecord(
                candidate: .init(path: path, origin: "named", isNamed: true), location: nil,
                result: Result { () throws(StorageError) in try inspector.inspect(path) })
        }
    }

    /// The plugin that serves a component.
    ///
    /// - Parameter inFile: Whether only a file will do, and the program's own plugins are passed over.
    package func plugin(offering id: String, inFile: Bool = false) async throws(StorageError) -> PluginRecord {
        let choices = try await plugins().choices.filter { $0.id == id }
        func wanted(_ records: [PluginRecord]) -> [PluginRecord] { records.filter { !inFile || !$0.isLinked } }
        let serving = wanted(choices.flatMap(\.serving))
        let offering = serving.isEmpty ? wanted(choices.flatMap(\.unused)) : serving
        guard let record = offering.first, offering.count == 1 else {
            throw StorageError(
                offering.isEmpty ? .componentNotFound : .componentAmbiguous,
                "\(offering.isEmpty ? "no plugin offers" : "more than one plugin offers") the component '\(id)'",
                hint: "run: ld-host plugins list")
        }
        return record
    }
}
