import FoundationEssentials
import LocalDataAPI
import LocalDataHost
import TestSupport
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
        let host = BuiltProducts.host
        // The manifest must exist before the program runs, since the program's configuration names it.
        try CatalogManifest(json: Data("{\"format\":1,\"name\":\"AppCatalog\",\"keys\":[]}".utf8), source: "empty")
            .json()
            .write(to: URL(filePath: manifest))

        #expect(try example.run(program, manifest) == Repository.text("Tests/ExamplesTests/Expected/KeyCatalog.txt"))
        let text = try example.run(host, "audit", "--keys")
        #expect(normalised(text, example) == (try Repository.text("Tests/ExamplesTests/Expected/Audit.txt")))

        let json = try example.run(host, "audit", "--json")
        #expect(normalised(json, example) == (try Repository.text("Tests/ExamplesTests/Expected/Audit.json")))

        _ = try example.run(host, "audit", "--html", "\(example.folder)/audit.html")
        let page = try String(contentsOf: URL(filePath: "\(example.folder)/audit.html"), encoding: .utf8)
        #expect(!page.contains("<script") && !page.contains("http"))
        try look(at: page, example)
        try lookOnPhone(example)
    }

    /// Loads the page in a browser: the result must have the picture and every key.
    private func look(at page: String, _ example: BuiltExample) throws {
        let document = try example.run(
            "/usr/bin/chromium", "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
            "file://\(example.folder)/audit.html")
        func count(_ element: String) -> Int { document.components(separatedBy: element).count - 1 }
        // Six domains, three stores and two plugins.
        #expect(count("<rect") == 6 + 3 + 2)
        // Eight locations, each with a row of column titles, and ten keys.
        #expect(count("<details open=") == 8 && count("<summary>") == 8)
        #expect(count("<tr>") == 8 + 10)
        // A location says once how its keys are protected, and so does each key.
        #expect(!document.contains("</span> 2 keys, enforced"))
        #expect(count("<h1>") == 1 && document.contains("\(example.folder)/config/localdata/config.json"))
    }

    /// On a phone nothing is wider than the screen, and a list stands for the picture, whose letters would be tiny.
    private func lookOnPhone(_ example: BuiltExample) throws {
        let frame = """
            <iframe width="390" height="800" style="border: 0" src="audit.html"></iframe>
            <script>
            onload = () => {
              const view = frames[0], page = view.document
              const shown = name => view.getComputedStyle(page.querySelector(name)).display
              const width = page.documentElement.scrollWidth
              document.body.textContent = `fits ${width <= 390}, ${shown("svg")}, ${shown(".routes")}, ${shown("td")}`
            }
            </script>
            """
        try Data(frame.utf8).write(to: URL(filePath: "\(example.folder)/phone.html"))
        let document = try example.run(
            "/usr/bin/chromium", "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files",
            "--dump-dom", "file://\(example.folder)/phone.html")
        #expect(document.contains("<body>fits true, none, block, block</body>"), "\(document)")
    }

    private func normalised(_ text: String, _ example: BuiltExample) -> String {
        text.replacing(
            /audit of \S+, [0-9TZ:-]+, by ld-host [0-9.]+;/, with: "audit of HOST, TIME, by ld-host VERSION;"
        )
        .replacing(/"(host|time|version)" : "[^"]+"/) { "\"\($0.output.1)\" : \($0.output.1.uppercased())" }
        .replacing(/written [0-9TZ:-]+/, with: "written TIME")
        .replacing(/"modified" : "[0-9TZ:.-]+"/, with: "\"modified\" : TIME")
        .replacing(BuiltProducts.folder, with: "{bin}").replacing(example.folder, with: "{folder}")
    }
}
