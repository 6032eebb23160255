import FoundationEssentials
import LocalDataAPI
import LocalDataHost
import Testing

@Suite("The key catalog example")
struct KeyCatalogTests {
    @Test("uses every key, and its audit is as expected as text, JSON and a page")
    func audit() throws {
        let example = try BuiltExample("KeyCatalog")
        defer { example.remove() }
        let manifest = "\(example.folder)/app.catalog.json"
        try FileManager.default.createDirectory(
            atPath: "\(example.folder)/config/localdata", withIntermediateDirectories: true)
        try """
        { catalogs: ["\(manifest)"], keychain: { service: "com.example.app" }, appGroups: { default: "group.com.example" } }
        """.write(
            to: URL(filePath: "\(example.folder)/config/localdata/config.json"), atomically: true, encoding: .utf8)
        let program = "\(example.products)/KeyCatalog"
        let host = "\(BuiltExample.binaries)/ld-host"
        // The manifest is there before the program that names it is configured by it.
        try CatalogManifest(json: Data("{\"format\":1,\"name\":\"AppCatalog\",\"keys\":[]}".utf8), source: "empty")
            .json()
            .write(to: URL(filePath: manifest))

        #expect(try example.run(program, manifest) == Repository.text("Tests/ExamplesTests/Expected/KeyCatalog.txt"))
        let text = try example.run(host, "audit")
        #expect(normalised(text, example) == (try Repository.text("Tests/ExamplesTests/Expected/Audit.txt")))

        let json = try example.run(host, "audit", "--json")
        #expect(normalised(json, example) == (try Repository.text("Tests/ExamplesTests/Expected/Audit.json")))

        _ = try example.run(host, "audit", "--html", "\(example.folder)/audit.html")
        let page = try String(contentsOf: URL(filePath: "\(example.folder)/audit.html"), encoding: .utf8)
        #expect(!page.contains("<script") && !page.contains("http"))
        try look(at: page, example)
    }

    /// Lets a browser, if there is one, read the page: the picture and every key must be in what it makes of it.
    private func look(at page: String, _ example: BuiltExample) throws {
        let browser = "/usr/bin/chromium"
        guard FileManager.default.isExecutableFile(atPath: browser) else {
            print("skipped: the audit's page was not opened, since chromium is not installed")
            return
        }
        let document = try example.run(
            browser, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", "file://\(example.folder)/audit.html")
        #expect(document.components(separatedBy: "<rect").count == 1 + 6 + 1 + 1)
        #expect(document.components(separatedBy: "<tr>").count == 1 + 1 + 10)
    }

    private func normalised(_ text: String, _ example: BuiltExample) -> String {
        text.replacing(/written [0-9TZ:-]+/, with: "written TIME")
            .replacing(/"modified" : [0-9]+/, with: "\"modified\" : TIME")
            .replacing(BuiltExample.binaries, with: "{bin}").replacing(example.folder, with: "{folder}")
    }
}
