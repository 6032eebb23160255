import FoundationEssentials
import HostClients
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
                    { app: { id: "" }, domains: { userDefaults: "memory", fileSystem: "memory", keychain: "memory",
                        encryptedFileSystem: "memory", appGroupUserDefaults: "memory", appGroupFileSystem: "memory",
                        "x.gone": "no-such-component" }, log: { level: "off" },
                      directories: { cache: "\(fixture.folder)", data: "\(fixture.folder)" }, \(more) }
                    """))
    }

    @Test("of one catalog lists every key, whether or not anything is stored, and queries no store")
    func oneCatalog() {
        let text = StorageAuditReport.renderText(
            Catalog(name: "App", allKeys: [.key(textKey("b")), .key(textKey("a", security: .recommended))]))
        #expect(text.hasPrefix("catalog App: 2 keys\n"))
        #expect(text.contains("userDefaults/a\n  a key for tests\n  owner tests, String as json, security encrypted"))
        let addresses = text.split(separator: "\n").filter { $0.hasPrefix("userDefaults/") }
        #expect(addresses == ["userDefaults/a", "userDefaults/b"])
    }

    @Test("reports which registered keys are stored, and lists stored values in no catalog")
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
        #expect(grouped.contains("catalog App: 5 keys") && grouped.contains("stored, in no catalog: 1 key"))
        let flat = await StorageAuditReport.renderGlobalRegistry(of: router)
        #expect(!flat.contains("catalog App") && flat.contains("userDefaults/stray"))
        for text in [grouped, flat, report.html()] { #expect(!text.contains("secret value")) }
    }

    @Test("escapes names and descriptions from outside, in a terminal and in a page")
    func hostileNames() async throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let router = try router(fixture)
        try await router.set("v", for: textKey("k", .userDefaults(suite: "\u{1b}[31m<script>")))
        try await router.registerCatalog(
            Catalog(name: Self.hostile, allKeys: [.key(textKey(Self.hostile, description: Self.hostile))]))
        let report = try await StorageAuditReport.make(of: router)
        #expect(!report.html().contains("<script"))
        #expect(report.html().contains("&lt;script&gt;alert(1)&lt;/script&gt;\\n&amp;&quot;&#39;"))
        let flat = await StorageAuditReport.renderGlobalRegistry(of: router)
        #expect(flat.contains(#"userDefaults/<script>alert(1)</script>\n&"'"#))
        let shown = try await StorageAuditReport.make(of: router)
        #expect(!shown.text().contains("\u{1b}") && !shown.html().contains("<script"))
    }

    @Test("groups keys by location, and stays readable with ten thousand of them")
    func manyKeys() async throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let router = try router(fixture)
        var batch = StorageBatch()
        for number in 0..<10_000 { try batch.set("v", for: textKey("k\(number)", .userDefaults(suite: "languages"))) }
        try batch.set("v", for: textKey("theme"))
        try batch.set("v", for: textKey("stray"))
        try await router.apply(batch)
        try await router.registerCatalog(
            Catalog(
                name: "App",
                allKeys: [
                    .key(textKey("theme")), .key(textKey("never")), .key(textKey("sealed", security: .recommended)),
                ]))
        var handed: [String] = []
        let report = try await StorageAuditReport.make(of: router, in: .everything, keeping: 10) {
            handed.append($0.address)
        }
        #expect(handed.count == 10_004 && Set(handed).count == 10_004)
        #expect(handed.prefix(4) == ["never", "sealed", "stray", "theme"].map { "userDefaults/\($0)" }[...])
        #expect(report.entries.count == 4 + 10)
        let text = report.text()
        #expect(
            text.contains(
                "\nuserDefaults:languages: 10,000 keys, plain, in no catalog, 30,000 bytes, in store memory\n"))
        #expect(
            text.contains(
                "\nuserDefaults: 4 keys, 3 plain, 1 refused, 1 in no catalog, 2 not stored, 6 bytes, in store memory\n  userDefaults/sealed: "
            ))
        #expect(text.split(separator: "\n").count < 20)
        #expect(text.hasPrefix("audit of ") && text.contains("; configuration: configuration\n"))

        let page = report.html()
        #expect(page.contains("<details open>\n<summary><code>userDefaults</code>"))
        #expect(page.contains("<details>\n<summary><code>userDefaults:languages</code>"))
        #expect(page.components(separatedBy: "<tr>").count - 1 == 2 + 14)
        #expect(
            page.contains("<p>9,990 keys more: <code>ld-host audit --keys &#39;userDefaults:languages&#39;</code></p>"))
        #expect(page.contains("<dt>Configuration</dt><dd><code>configuration</code></dd>"))
    }

    @Test("of a domain or a scope has its keys alone")
    func selection() async throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let router = try router(fixture)
        for domain in [StorageDomain.userDefaults(), .userDefaults(suite: "s"), .fileSystem()] {
            for name in ["a", "b1", "b2"] { try await router.set("v", for: textKey(name, domain)) }
        }
        try await router.registerCatalog(
            Catalog(
                name: "App",
                allKeys: [
                    .key(textKey("b1")), .key(textKey("never", .userDefaults(suite: "t"))),
                    .key(textKey("b9", .fileSystem())),
                ]))
        func addresses(_ selection: String) async throws -> [String] {
            try await StorageAuditReport.make(of: router, in: StorageSelection(selection)) { _ in }.entries.map(
                \.address)
        }
        #expect(
            try await addresses("userDefaults") == [
                "userDefaults/a", "userDefaults/b1", "userDefaults/b2", "userDefaults:s/a", "userDefaults:s/b1",
                "userDefaults:s/b2", "userDefaults:t/never",
            ])
        #expect(try await addresses("userDefaults/b") == ["userDefaults/b1", "userDefaults/b2"])
        #expect(try await addresses("userDefaults:s/a") == ["userDefaults:s/a"])
        #expect(
            try await addresses("fileSystem/b")
                == ["b1", "b2", "b9"].map { "fileSystem:documents/\($0)" })
        await #expect(throws: StorageError.self) { try await addresses("nowhere") }
    }

    @Test("reports why it cannot be made")
    func impossible() async throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let router = try router(fixture, "catalogs: [\"/nowhere/app.catalog.json\"]")
        let text = await StorageAuditReport.renderGlobalRegistry(of: router)
        #expect(text.hasPrefix("the audit cannot be made: ") && text.contains("/nowhere/app.catalog.json"))
    }
}
