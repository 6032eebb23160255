import LocalDataAPI
import LocalDataTesting
import TestSupport
import Testing

@Suite("The conformance kit")
struct ConformanceTests {
    @Test("finds nothing in a correct store, and skips only what needs a second process or a plugin's file")
    func correctStorePasses() async throws {
        let report = try await StorageConformance.run(CorrectStore.self)
        #expect(report.failures.isEmpty, "\(report)")
        let skipped = report.results(.skipped).map(\.id)
        #expect(skipped == ["durable.kill", "shared.sees", "shared.whole", "shared.writers", "shared.watch"])
    }

    @Test("finds nothing in the in-memory store that it includes")
    func inMemoryStorePasses() async throws {
        let report = try await StorageConformance.run(InMemoryStore.self)
        #expect(report.failures.isEmpty, "\(report)")
    }

    @Test("fails the check whose promise a store breaks", .serialized, arguments: BrokenStore.all)
    func brokenStoreFails(_ broken: BrokenStore) async throws {
        let report = try await broken.run([broken.check])
        #expect(report.failures.map(\.id) == [broken.check], "\(report)")
    }

    /// All stores with `LOCALDATA_TORTURE=1`; otherwise one, the same for the same `LOCALDATA_SEED`.
    @Test("fails no other check", .serialized, arguments: TestRun.sample(1, of: BrokenStore.all))
    func brokenStoreFailsNoOther(_ broken: BrokenStore) async throws {
        let report = try await broken.run(nil)
        #expect(report.failures.map(\.id) == [broken.check], "\(report.failures)")
    }

    @Test("has a broken store for every check")
    func everyCheckIsProven() {
        let proven = BrokenStore.all.map(\.check) + BrokenPlugin.all.map(\.check)
        #expect(Set(proven).count == proven.count)
        #expect(Set(proven) == Set(ConformanceCheck.all(for: .storage).map(\.id)))
    }

    @Test("has a broken crypto provider for every check of providers")
    func everyCryptoCheckIsProven() {
        #expect(
            Set(BrokenProvider.all.map { "crypto.\($0.check)" }) == Set(ConformanceCheck.all(for: .crypto).map(\.id)))
    }

    @Test("has checks with unique ids, and sentences without a final period")
    func checksAreWellNamed() {
        let ids = ConformanceCheck.all.map(\.id)
        #expect(Set(ids).count == ids.count)
        for check in ConformanceCheck.all {
            #expect(
                check.id.wholeMatch(of: /((crypto|sync|pack)\.)?[a-z]+\.[a-z0-9]+(-[a-z0-9]+)*/) != nil, "\(check.id)")
            #expect(check.id.hasPrefix("crypto.") == (check.kind == .crypto), "\(check.id)")
            #expect(check.id.hasPrefix("sync.") == (check.kind == .sync), "\(check.id)")
            #expect(check.id.hasPrefix("pack.") == (check.kind == .migration), "\(check.id)")
            #expect(!check.sentence.hasSuffix("."), "\(check.id)")
        }
        // The report prints the sentences in one column.
        let results = ConformanceCheck.all.map { ConformanceResult($0, .passed) }
        let lines = "\(ConformanceReport(component: "all", source: "", results: results))".split(separator: "\n")
        let columns = zip(lines.dropFirst(), results).map { line, result in
            line.firstRange(of: result.sentence).map { line.distance(from: line.startIndex, to: $0.lowerBound) }
        }
        #expect(columns.count == results.count && Set(columns).count == 1)
    }

    @Test("runs only the requested checks, and refuses an unknown id")
    func onlySome() async throws {
        let report = try await StorageConformance.run(CorrectStore.self, only: ["value.empty", "name.any"])
        #expect(report.results.map(\.id) == ["value.empty", "name.any"])
        await #expect(throws: StorageError.invalidOptions) {
            try await StorageConformance.run(CorrectStore.self, only: ["value.emty"])
        }
    }

    @Test("reports expected and actual results, and counts them")
    func reportIsReadable() async throws {
        let report = try await StorageConformance.run(
            BrokenValues.DropsEmptyValues.self, only: ["value.empty", "value.bytes", "shared.sees"])
        let lines = "\(report)".split(separator: "\n")
        #expect(lines[0].hasPrefix("correct  "))
        #expect(
            lines[1]
                == "FAIL  value.empty                   an empty value is stored, and is not absent: "
                + "'empty': expected an empty value, found none")
        #expect(lines[2] == "ok    value.bytes                   every byte is returned unchanged")
        #expect(lines[3].hasPrefix("skip  shared.sees "))
        #expect(lines[4] == "1 passed, 1 failed, 1 skipped")
    }
}
