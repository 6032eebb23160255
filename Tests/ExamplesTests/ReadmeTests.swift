import FoundationEssentials
import LocalDataAPI
import LocalDataHost
import Testing

@Suite("The README")
struct ReadmeTests {
    @Test("has no Swift sample that is not compiled, word for word, in a package or a test")
    func samplesAreCompiled() throws {
        let blocks = try Repository.text("README.md").split(separator: "```swift\n").dropFirst()
            .compactMap { $0.split(separator: "```", maxSplits: 1).first.map(String.init) }
        let sources = try [
            "Tests/ExamplesTests/ReadmeSamples.swift", "Tests/ExamplesTests/ReadmeKeys.swift",
            "Tests/ExamplesTests/ReadmeChanges.swift",
            "Examples/HelloBackend/Sources/HelloBackend/HelloStore.swift",
        ].map { try Repository.text($0) }
        #expect(blocks.count == 4)
        for block in blocks { #expect(sources.contains(block), "not compiled anywhere:\n\(block)") }
    }

    @Test("has configuration samples that are valid")
    func configurationIsValid() throws {
        let blocks = try Repository.text("README.md").split(separator: "```json5\n").dropFirst()
            .compactMap { $0.split(separator: "```", maxSplits: 1).first.map(String.init) }
        #expect(blocks.count == 2)
        for block in blocks {
            #expect(try HostConfiguration(text: block, source: "README.md").problems().isEmpty)
        }
    }

    @Test("promises a plugin in 25 lines, and the example has no more")
    func helloIsShort() throws {
        let lines = try Repository.text("Examples/HelloBackend/Sources/HelloBackend/HelloStore.swift")
            .split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count <= 26)
    }
}
