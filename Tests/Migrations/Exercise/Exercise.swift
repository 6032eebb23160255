internal import FoundationEssentials
internal import LocalDataAPI
internal import LocalDataHost

/// Runs the migrations of one case as an app does, in this environment.
package struct Exercise: Sendable {
    /// The version of the app that migrates.
    static let version = "2.0.0"
    /// The version of the app that stored the values of the state before.
    private static let earlier = "1.0.0"
    /// The name of the preference that a conditional migration reads.
    static let preference = "agreed"

    package let subject: ExerciseCase

    package init(_ subject: ExerciseCase) { self.subject = subject }

    /// A router as an app of the current version opens one.
    func router(of version: String = Exercise.version) async throws -> StorageRouter {
        let router = try Self.router(of: version)
        await router.updateMigrationPreferences([Self.preference: true])
        for migration in subject.registered { try await router.registerMigration(migration) }
        if let bulk = subject.bulk { try await router.registerMigration(bulk) }
        return router
    }

    private static func router(of version: String) throws -> StorageRouter {
        let server = ProcessInfo.processInfo.environment[ExercisePlace.serverVariable].map {
            [
                "domains.remote=remote", "stores.remote.component=postgresql", "stores.remote.options.uri=\($0)",
                "stores.remote.options.timeout=10",
            ]
        }
        return StorageRouter(
            configuration: try .load(
                flags: HostConfiguration.Flags(
                    values: [
                        "app.version=\(version)", "domains.volatile=memory", "domains.appGroupUserDefaults=sqlite",
                    ] + (server ?? []))))
    }

    /// Stores the values of the state before.
    package func prepare() async throws -> ExerciseReport {
        try await prepare(Self.router(of: Self.earlier))
        return ExerciseReport()
    }

    /// The destinations' values come first: setting them later would supersede the migration's sources.
    private func prepare(_ router: StorageRouter) async throws {
        let targets = Set(subject.steps.flatMap { $0.written.map(\.address) })
        let ordered =
            subject.before.filter { targets.contains($0.address) }
            + subject.before.filter { !targets.contains($0.address) }
        for value in ordered { try await router.setData(value.data, for: value.key) }
    }

    /// Migrates, looks at the state, and then reads the value.
    package func run() async throws -> ExerciseReport {
        let router = try await router()
        var report = ExerciseReport()
        // A folder's database is open as long as a key of it is resolved. When SQLite closes it, it copies the log into
        // the file. A failure of that loses nothing and is not reported.
        let inFolder = subject.keys.first { "\($0.descriptor.domain)" == "\(ExercisePlace.groupDatabase.domain)" }
        defer { withExtendedLifetime(inFolder) {} }
        if let inFolder { _ = try? await router.exists(inFolder) }
        report.run = await .init { try await migrate(router) }
        report.callsAfter = CallCount.now
        report.after = try await look()
        report.got = await .init { try await ask(router) }
        return report
    }

    /// Resumes the interrupted migration, like a process without its history, and migrates again.
    ///
    /// - Parameter asksFirst: Whether to read the value before looking at the state.
    package func resume(asksFirst: Bool) async throws -> ExerciseReport {
        var report = ExerciseReport()
        if !asksFirst { report.before = try await look() }
        let router = try await router()
        report.got = await .init { try await ask(router) }
        if asksFirst { report.before = try await look() }
        report.run = await .init { try await migrate(router) }
        report.after = try await look()
        // A router without any knowledge, but with open stores.
        let other = try await self.router()
        for value in subject.before { _ = try await other.exists(value.key) }
        for step in subject.steps { for value in step.written { _ = try await other.exists(value.key) } }
        let calls = CallCount.now
        report.again = await .init { try await migrate(other) }
        report.callsAgain = CallCount.now - calls
        return report
    }

    /// Runs everything in one process and with one router, for values that end with the process.
    package func whole() async throws -> ExerciseReport {
        let router = try await router(of: Self.earlier)
        try await prepare(router)
        try await router.configure("app.version", AnyCodable(.string(Self.version)))
        var report = ExerciseReport()
        report.callsBefore = CallCount.now
        report.run = await .init { try await migrate(router) }
        report.callsAfter = CallCount.now
        report.before = try await look(with: router)
        report.got = await .init { try await ask(router) }
        report.again = await .init { try await migrate(router) }
        report.after = try await look(with: router)
        let calls = CallCount.now
        _ = try await migrate(router)
        report.callsAgain = CallCount.now - calls
        return report
    }

    /// The value that an app reads; for a container, the app opens it first.
    private func ask(_ router: StorageRouter) async throws -> Data {
        if let container = subject.container { try await router.migrateContainer(container) }
        return try await subject.destination.get(router).exerciseShown
    }

    private func migrate(_ router: StorageRouter) async throws -> String {
        if let container = subject.container {
            let progress = try await router.migrateContainer(container)
            guard progress.isClean else { return "\(MigrationOutcome.cleanupPending)" }
            return "\(progress.steps.isEmpty ? MigrationOutcome.nothingToDo : .migrated)"
        }
        if let bulk = subject.bulk { return "\(try await router.runMigration(bulk.id).outcome)" }
        return "\(try await router.forceMigration(for: subject.destination.key).outcome)"
    }
}
