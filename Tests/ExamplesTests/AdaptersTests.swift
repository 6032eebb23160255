import FoundationEssentials
import LocalDataHost
import TestSupport
import Testing

@Suite("The adapters for other libraries' protocols")
struct AdaptersTests {
    private static let sources = "Examples/Adapters/Sources/Adapters"
    private static let adapters = [
        "KeychainStorage", "SessionDriver", "StoreProvider", "StoreAppStorage", "StoreSharedKey",
    ]

    @Test("do what the libraries expect, and keep their values for the next process") func runs() throws {
        let example = try BuiltExample("Adapters")
        defer { example.remove() }
        let expected = try Repository.text("Tests/ExamplesTests/Expected/Adapters.txt")
        for launch in 1...2 {
            let output = try example.run("\(example.products)/Adapters")
            #expect(output == expected.replacing("launch 1", with: "launch \(launch)"), "\(output)")
        }

        #expect(try example.run(BuiltProducts.host, "get", "userDefaults:app/launches") == "2")
        let token = try example.run(BuiltProducts.host, "ls", "keychain:com.example.app")
        #expect(token == "keychain:com.example.app/com.example.app.gitlab.oauth-token\n")
        var files = 0
        let root = "\(example.folder)/home"
        for path in try FileManager.default.subpathsOfDirectory(atPath: root) {
            guard let data = FileManager.default.contents(atPath: "\(root)/\(path)") else { continue }
            #expect(data.firstRange(of: Data("-secret".utf8)) == nil, "the token is in '\(path)' as plain text")
            #expect(data.firstRange(of: Data("visits".utf8)) == nil, "the session is in '\(path)' as plain text")
            files += 1
        }
        #expect(files > 0)
    }

    @Test("are shorter than 150 lines", arguments: adapters) func areShort(_ adapter: String) throws {
        let lines = try Repository.text("\(Self.sources)/\(adapter).swift").split(
            separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count < 150)
    }

    @Test("build without other packages") func needNothing() throws {
        let files = Repository.files(below: Self.sources) { $0.hasSuffix(".swift") }
        #expect(files.count == 2 * Self.adapters.count + 1)
        let known = ["FoundationEssentials", "LocalDataAPI", "LocalDataHost", "Synchronization"]
        for file in files {
            for line in try Repository.text(file).split(separator: "\n") where line.hasPrefix("import ") {
                #expect(known.contains(String(line.dropFirst("import ".count))), "\(file): \(line)")
            }
        }
    }
}
