import FoundationEssentials
import LocalDataAPI
import LocalDataHost
import TestSupport
import Testing

@Suite("The audit's text") struct AuditNoticesTests {
    private struct One: StaticStorageKeyCatalog {
        let name = "Auth"
        let allKeys: [AnyStorageKey] = [
            .key(
                StorageKey<String>(
                    name: "theme", domain: .userDefaults(), security: .none, owner: "tests",
                    description: "a key for tests", syncPolicy: .automaticSmall))
        ]
    }

    @Test("is what printing the report prints, without a dump")
    func printed() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try home.router()
        try await router.registerCatalog(One.self)
        let report = try await StorageAuditReport.make(of: router)
        #expect("\(report)" == report.text())
        #expect("\(report)".count < 3000 && !"\(report)".contains("AuditEntry"))
    }

    @Test("counts one key as one")
    func one() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try home.router()
        try await router.registerCatalog(One.self)
        #expect(StorageAuditReport.renderText(One()).hasPrefix("catalog Auth: 1 key\n"))
        #expect(await StorageAuditReport.renderGlobalRegistryGrouped(of: router).contains("catalog Auth: 1 key\n"))
    }

    @Test("says that a sync policy has no effect without a transport, and so does the log")
    func unsynced() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let log = LogRecorder()
        let router = StorageRouter(configuration: try home.configuration(), log: log)
        try await router.registerCatalog(One.self)
        let report = try await StorageAuditReport.make(of: router)
        let entry = try #require(report.entries.first)
        #expect(entry.syncProblem == "the configuration names no sync transport")
        #expect(report.locations.first?.unsynced == 1)
        #expect(report.text().contains("1 key, plain, not stored, not synced"))
        let listed = await StorageAuditReport.renderGlobalRegistry(of: router)
        #expect(listed.contains("sync automaticSmall, but the configuration names no sync transport"))
        #expect(await router.syncRegisteredKeysIfNeeded() == nil)
        #expect(
            log.lines.contains {
                $0.contains("'userDefaults/theme' has a sync policy, but the configuration names no sync transport")
            })
    }

    @Test("says that a value in no catalog is sealed")
    func sealed() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try home.router()
        try await router.set("secret", for: textKey("token", security: .encrypted(.aes256())))
        try await router.set("plain", for: textKey("plain"))
        let report = try await StorageAuditReport.make(of: router)
        let entries = Dictionary(uniqueKeysWithValues: report.entries.map { ($0.address, $0) })
        #expect(entries["userDefaults/token"]?.policy == "encrypted (AES-256-GCM, HKDF-SHA256)")
        #expect(entries["userDefaults/token"]?.enforcement == .enforced)
        #expect(entries["userDefaults/plain"]?.policy == "none")
    }

    @Test("names the catalog that a key is given")
    func catalog() {
        let key = One().allKeys[0].withCatalog("Other")
        #expect(key.descriptor.catalog == "Other" && key.descriptor.syncPolicy == .automaticSmall)
        #expect(One().allKeys[0].descriptor.catalog == nil)
    }
}
