import FoundationEssentials
import LocalDataAPI
import LocalDataTesting
import TestSupport
import Testing

@Suite("The conformance kit for migration packs", .serialized)
struct PackConformanceTests {
    @Test("finds nothing in a correct pack, and has nothing to skip if every kind of migration exists")
    func correctPackPasses() throws {
        let results = try results("")
        #expect(results.map(\.id) == ConformanceCheck.all(for: .migration).map(\.id))
        #expect(results.allSatisfy { $0.outcome == .passed }, "\(results)")
    }

    @Test("fails the check whose promise a pack breaks", arguments: BrokenPack.all)
    func brokenPackFails(_ broken: BrokenPack) throws {
        let results = try results(broken.way, component: broken.component, "--only", "pack.\(broken.check)")
        #expect(results.map(\.outcome) == [.failed], "\(results)")
    }

    /// All packs with `LOCALDATA_TORTURE=1`; otherwise one, the same for the same `LOCALDATA_SEED`.
    @Test("fails no other check", arguments: TestRun.sample(1, of: BrokenPack.all))
    func brokenPackFailsNoOther(_ broken: BrokenPack) throws {
        let failed = try results(broken.way, component: broken.component).filter { $0.outcome == .failed }
        #expect(failed.map(\.id) == ["pack.\(broken.check)"], "\(failed)")
    }

    @Test("has a broken pack for each check")
    func complete() {
        let broken = Set(BrokenPack.all.map { "pack.\($0.check)" })
        #expect(broken == Set(ConformanceCheck.all(for: .migration).map(\.id)))
    }

    @Test("tries a Swift type in the test's own process, and skips what does not apply")
    func inProcess() async throws {
        let report = try await MigrationConformance.run(Renaming.self)
        #expect(report.failures.isEmpty, "\(report)")
        #expect(report.results.filter { $0.outcome == .skipped }.map(\.id) == ["pack.convert.repeats"])
        let empty = try await MigrationConformance.run(Empty.self)
        #expect(empty.failures.map(\.id) == ["pack.lifecycle.open"])
        await #expect(throws: StorageError.invalidOptions) {
            try await MigrationConformance.run(Renaming.self, only: ["value.empty"])
        }
    }

    private struct Renaming: MigrationPack {
        static let component = ComponentInfo(id: "renaming", summary: "renames a value")

        init(options: ComponentOptions, host: HostServices) {}

        let migrations = [AnyStorageMigration(Rename())]

        struct Rename: StorageMigration {
            let destinationKey = key("new")
            let summary = "renames old to new"
            var sources: [AnyStorageKey] { [.key(key("old"))] }

            func shouldMigrate(
                using router: any StorageProviding, context: MigrationContext
            ) async throws -> Bool { try await router.exists(key("old")) }

            func migrate(
                using router: any StorageProviding, context: MigrationContext
            ) async throws -> MigrationResult {
                try await router.set(try await router.get(key("old")), for: destinationKey)
                try await router.remove(key("old"))
                return MigrationResult(success: true, migratedCount: 1)
            }
        }
    }

    private struct Empty: MigrationPack {
        static let component = ComponentInfo(id: "empty", summary: "has none")
        let migrations: [AnyStorageMigration] = []
        init(options: ComponentOptions, host: HostServices) {}
    }

    private func results(
        _ way: String, component: String = "c-pack", _ arguments: String...
    ) throws -> [ConformanceResult] {
        let file = try Built.pack.get()
        let end = try Built.run(
            file, ["--json", "--component", component, "--options", #"{"breaks": "\#(way)"}"#] + arguments)
        let reports = try JSONDecoder().decode([ConformanceReport].self, from: Data(end.output.utf8))
        let report = try #require(reports.first, "\(end.errors)")
        #expect(end.status == (report.failures.isEmpty ? 0 : 2))
        return report.results
    }
}

private func key(_ name: String) -> StorageKey<String> {
    StorageKey(
        name: name, domain: .custom(name: "own"), security: .none, owner: "tests", description: "a key for tests")
}
