import FoundationEssentials
import LocalDataAPI
import LocalDataHost
import Testing

@Suite("The audit")
struct StorageAuditReportTests {
    private struct Catalog: StorageKeyCatalog {
        let name: String
        let allKeys: [AnyStorageKey]
    }

    private static let hostile = "<script>alert(1)</script>\n&\"'"

    private func router(_ fixture: FixtureBuilder, _ more: String = "") throws -> StorageRouter {
        StorageRouter(
            configuration: try HostConfiguration(
                text: """
                    { domains: { userDefaults: "memory", fileSystem: "memory", keychain: "memory",
                        encryptedFileSystem: "memory", appGroupUserDefaults: "memory", appGroupFileSystem: "memory",
                        "x.gone": "no-such-component" }, log: { level: "off" },
                      directories: { cache: "\(fixture.folder)", data: "\(fixture.folder)" }, \(more) }
                    """))
    }

    @Test("of one catalog lists every key, whether or not anything is stored, and asks no store")
    func oneCatalog() {
        let text = StorageAuditReport.renderText(
            Catalog(name: "App", allKeys: [.key(textKey("b")), .key(textKey("a", security: .recommended))]))
        #expect(text.hasPrefix("catalog App: 2 keys\n"))
        #expect(text.contains("userDefaults/a\n  a key for tests\n  owner tests, String as json, security encrypted"))
        let addresses = text.split(separator: "\n").filter { $0.hasPrefix("userDefaults/") }
        #expect(addresses == ["userDefaults/a", "userDefaults/b"])
    }

    @Test("tells of registered keys whether they are stored, and lists what is stored in no catalog")
    func registry() async throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let router = try router(fixture)
        let stray = textKey("stray")
        try await router.set("secret value", for: stray)
        try await router.set("another value", for: textKey("kept"))
        try await router.registerCatalog(
            Catalog(
                name: "App",
                allKeys: [
                    .key(textKey("kept")), .key(textKey("never")), .key(textKey("sealed", security: .recommended)),
                    .key(textKey("lost", .custom(name: "x.gone"))), .key(textKey("unplaced", .keychain())),
                ]))
        let report = try await StorageAuditReport.make(of: router)
        let entries = Dictionary(uniqueKeysWithValues: report.entries.map { ($0.address, $0) })
        #expect(entries["userDefaults/kept"]?.isStored == true && entries["userDefaults/kept"]?.size == 15)
        #expect(entries["userDefaults/never"]?.isStored == false)
        #expect(entries["userDefaults/sealed"]?.enforcement == .refused)
        #expect(entries["userDefaults/stray"]?.catalog == nil && entries["userDefaults/stray"]?.isStored == true)
        #expect(entries["x.gone/lost"]?.isStored == nil)
        #expect(entries["x.gone/lost"]?.reason?.contains("no-such-component") == true)
        #expect(entries["keychain/unplaced"]?.reason?.contains("no service") == true)
        #expect(report.routes.first { $0.domain == "x.gone" }?.problem?.contains("no-such-component") == true)

        let grouped = await StorageAuditReport.renderGlobalRegistryGrouped(of: router)
        #expect(grouped.contains("catalog App: 5 keys") && grouped.contains("stored, in no catalog: 1 keys"))
        let flat = await StorageAuditReport.renderGlobalRegistry(of: router)
        #expect(!flat.contains("catalog App") && flat.contains("userDefaults/stray"))
        for text in [grouped, flat, report.html()] { #expect(!text.contains("secret value")) }
    }

    @Test("shows names and descriptions from outside as text, in a terminal and in a page")
    func hostileNames() async throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let router = try router(fixture)
        try await router.registerCatalog(
            Catalog(name: Self.hostile, allKeys: [.key(textKey(Self.hostile, description: Self.hostile))]))
        let report = try await StorageAuditReport.make(of: router)
        #expect(!report.html().contains("<script"))
        #expect(report.html().contains("&lt;script&gt;alert(1)&lt;/script&gt;\\n&amp;&quot;&#39;"))
        #expect(report.text().contains(#"userDefaults/<script>alert(1)</script>\n&"'"#))
    }

    @Test("says why it cannot be made instead of saying nothing")
    func impossible() async throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let router = try router(fixture, "catalogs: [\"/nowhere/app.catalog.json\"]")
        let text = await StorageAuditReport.renderGlobalRegistry(of: router)
        #expect(text.hasPrefix("the audit cannot be made: ") && text.contains("/nowhere/app.catalog.json"))
    }
}
