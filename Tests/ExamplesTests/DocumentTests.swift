import FoundationEssentials
import LocalDataHost
import TestSupport
import Testing

@Suite("The README and the guides")
struct DocumentTests {
    /// The folders of compiled code that articles may show; another test compares the code that `plugins new` writes.
    private static let compiled = ["Examples", "Tests/ExamplesTests"]
        .flatMap { Repository.files(below: $0) { $0.hasSuffix(".swift") } }
        .compactMap { try? Repository.text($0) }

    @Test("have no Swift sample that is not compiled, word for word", arguments: Document.paths)
    func samplesAreCompiled(_ path: String) throws {
        guard !path.hasSuffix("/WritingAPlugin.md") else { return }
        for block in try Document(path).blocks(of: "swift") {
            #expect(Self.compiled.contains { $0.contains(block) }, "not compiled anywhere:\n\(block)")
        }
    }

    @Test("have samples, each of which the tests above and below find", arguments: Document.paths)
    func samplesAreFound(_ path: String) throws {
        let document = try Document(path)
        let fences = document.text.split(separator: "\n").filter { $0.hasPrefix("```") }
        #expect(fences.count.isMultiple(of: 2), "a block has no end")
        for language in ["swift", "json5", "console"] {
            #expect(document.blocks(of: language).count == fences.count { $0.hasSuffix("```\(language)") })
        }
        let teaches = ["README.md", "/Migrations.md", "/TestingAPlugin.md"].contains { path.hasSuffix($0) }
        #expect(!teaches || !document.blocks(of: "swift").isEmpty)
    }

    @Test("have configuration samples that are valid", arguments: Document.paths)
    func configurationIsValid(_ path: String) throws {
        for block in try Document(path).blocks(of: "json5") {
            #expect(try HostConfiguration(text: block, source: path).problems().isEmpty)
        }
    }

    @Test("begin with a README of at most 1,000 words")
    func readmeIsShort() throws {
        let words = try Document("README.md").text.split(whereSeparator: \.isWhitespace)
        #expect(words.count <= 1000)
    }

    @Test("begin with a README that shows a whole plugin, which has at most 25 lines")
    func helloIsShort() throws {
        let example = try Repository.text("Examples/HelloBackend/Sources/HelloBackend/HelloStore.swift")
        #expect(try Document("README.md").blocks(of: "swift").contains(example))
        #expect(example.hasSuffix("\n") && example.count { $0 == "\n" } <= 25)
    }

    @Test("show the same figures as the article on performance")
    func figures() throws {
        let measured = try Document("Sources/ld-host/Host/LocalDataHost.docc/Performance.md").rows
        let shown = try Document("README.md").rows.filter { $0.hasSuffix(" met |") || $0.hasSuffix(" **not met** |") }
        #expect(!shown.isEmpty)
        for row in shown { #expect(measured.contains(row), "not measured so:\n\(row)") }
    }

    @Test("have only figures that the benchmarks measured and wrote")
    func figuresAreWritten() throws {
        let folder = try TemporaryFolder()
        let root = URL(filePath: folder.path)
        let article = root.appending(path: "Sources/ld-host/Host/LocalDataHost.docc/Performance.md")
        try FileManager.default.createDirectory(
            at: article.deletingLastPathComponent(), withIntermediateDirectories: true)
        let shown = try Document("README.md").text
        try shown.write(to: root.appending(path: "README.md"), atomically: true, encoding: .utf8)
        let measured = try Document("Sources/ld-host/Host/LocalDataHost.docc/Performance.md").text
        let results = root.appending(path: "results.md")

        // LocalData's time in the last row of the README.
        let last = try #require(try Document("README.md").rows.last { $0.hasSuffix(" met |") })
        let figure = try "| \(#require(last.split(separator: " | ").dropFirst().first)) |"

        func write(_ figures: String) throws -> ChildProcess.Completion {
            try figures.write(to: results, atomically: true, encoding: .utf8)
            return try ChildProcess(
                "/usr/bin/python3",
                arguments: ["\(Repository.root)/Tests/Benchmarks/write-article", results.path(), root.path()],
                environment: [:]
            ).run(deadline: .seconds(60))
        }
        #expect(try write(measured.replacing(figure, with: "| 1 us |")).outcome == .exited(code: 0))
        let written = try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
        #expect(written == shown.replacing(figure, with: "| 1 us |"))
        #expect(written != shown)
        #expect(try String(contentsOf: article, encoding: .utf8).contains("# Performance"))
        #expect(try write("| what; beside what |").outcome == .exited(code: 1))
    }

    @Test("list every plugin that is built")
    func plugins() throws {
        let built = Repository.files(below: "Sources") { _ in true }.compactMap { path in
            let parts = path.split(separator: "/")
            return parts.count == 3 && ["Backends", "Migrators"].contains(parts[1]) && !parts[2].contains(".")
                ? String(parts[2]) : nil
        }
        let readme = try Document("README.md")
        #expect(built.count >= 7)
        for plugin in built { #expect(readme.rows.contains { $0.hasPrefix("| `\(plugin)` |") }, "\(plugin)") }
    }

    @Test(
        "link to files that exist",
        arguments: Document.paths + ["CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"])
    func links(_ path: String) throws {
        let folder = URL(filePath: "\(Repository.root)/\(path)").deletingLastPathComponent()
        for link in try Document(path).text.split(separator: "](").dropFirst() {
            let target = String(link.prefix { $0 != ")" && $0 != "#" })
            guard !target.isEmpty, !target.contains(":") else { continue }
            #expect(FileManager.default.fileExists(atPath: folder.appending(path: target).path()), "\(target)")
        }
    }

    @Test("walk through types that exist, each in a target that its step names")
    func walks() throws {
        let article = try Document("Sources/ld-host/Host/LocalDataHost.docc/Architecture.md").text
        let walks = try #require(article.split(separator: "## Eight walks").last)
        let targets = try Self.targetsOfTypes()
        var named = 0
        for step in walks.split(separator: #/\n\n|\n(?=\d\. )/#) {
            for name in step.matches(of: /`([A-Z][A-Za-z]+)`/).map({ String($0.1) }) {
                let places = targets[name] ?? []
                #expect(!places.isEmpty, "no type '\(name)'")
                let isTold = step.first?.isNumber != true || places.contains { step.contains($0) }
                #expect(isTold, "'\(name)' is in \(places): \(step.prefix(60))")
                named += 1
            }
        }
        #expect(named >= 60)
    }

    /// The targets that declare a type of a name.
    private static func targetsOfTypes() throws -> [String: Set<String>] {
        var targets: [String: Set<String>] = [:]
        for path in Repository.files(below: "Sources", where: { $0.hasSuffix(".swift") }) {
            for line in try Repository.text(path).split(separator: "\n") where line.first?.isLetter == true {
                let words = line.split { !$0.isLetter }
                guard let kind = words.firstIndex(where: { ["class", "struct", "enum", "protocol"].contains($0) }),
                    words.indices.contains(kind + 1)
                else { continue }
                targets[String(words[kind + 1]), default: []].insert(target(of: path))
            }
        }
        return targets
    }

    /// The target of a file of Sources, by the folder that it is in.
    private static func target(of path: String) -> String {
        let parts = path.split(separator: "/").map(String.init)
        if path.hasPrefix("Sources/ld-host/Host/Router/") { return "LocalDataHost" }
        if path.hasPrefix("Sources/ld-host/Host/") { return "Host\(parts[3])" }
        if path.hasPrefix("Sources/ld-host/CommandLine/") { return "ld-host" }
        if path.hasPrefix("Sources/LocalDataAPI/DurableFiles/") { return parts[2] }
        if path.hasPrefix("Sources/LocalDataAPI/Plugin/") { return "LocalDataPluginAPI" }
        return path.hasPrefix("Sources/Backends/") ? parts[2] : parts[1]
    }
}
