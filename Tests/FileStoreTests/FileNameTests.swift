@testable import FileStore
import FoundationEssentials
import LocalDataAPI
import TestSupport
import Testing

@Suite("File names")
struct FileNameTests {
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    @Test(
        "are spelled so that nothing escapes, collides or hides",
        arguments: [
            ("theme", "theme"), ("a.b_c-9", "a.b_c-9"), ("Theme", "%54heme"), ("%41", "%2541"), ("A", "%41"),
            (".", "%2E"), ("..", "%2E%2E"), ("...", "%2E.%2E"), (".hidden", "%2Ehidden"), ("end.", "end%2E"),
            ("/", "%2F"), ("a/b", "a%2Fb"), ("..%2F", "%2E.%252%46"), (" ", "%20"), ("end ", "end%20"),
            ("line\nbreak", "line%0Abreak"), ("\u{e9}", "%C3%A9"), ("e\u{301}", "e%CC%81"), ("~", "%7E"),
            ("\u{1}\u{7f}", "%01%7F"), ("\u{feff}", "%EF%BB%BF"), (".tmp", "%2Etmp"),
            ("\\:*?\"<>|", "%5C%3A%2A%3F%22%3C%3E%7C"),
        ])
    func spelling(name: String, file: String) throws {
        try fixture.set(name, Array(name.utf8))
        #expect(try fixture.folder.entries("fileSystem@documents") == [".tmp", file].sorted())
        #expect(try fixture.get(name) == Array(name.utf8))
        #expect(try fixture.names() == [Array(name.utf8)])
        #expect(try fixture.store.remove(fixture.key(name)))
        #expect(try fixture.names().isEmpty)
    }

    @Test("of a folder that comes from a file system with room for 143 bytes are found, replaced and removed there")
    func small() throws {
        let name = String(repeating: "A", count: 60)
        let scope = String(repeating: "B", count: 60)
        let place = StorageNamespace(domain: "userDefaults", scope: scope)
        func spelled(_ text: String) -> (folder: String, file: String) {
            (String(text.prefix(126)) + "~", String(text.dropFirst(126)))
        }
        let encoded = spelled(String(repeating: "%41", count: 60))
        // A domain, its scope, and what fits into a piece of 128 bytes.
        let whole = "userDefaults@" + String(repeating: "%42", count: 60)
        let folder = "\(fixture.folder.path)/\(whole.prefix(127))~/\(whole.dropFirst(127))"
        try FileManager.default.createDirectory(
            atPath: "\(folder)/\(encoded.folder)", withIntermediateDirectories: true)
        let file = "\(folder)/\(encoded.folder)/\(encoded.file)"
        try Data([1]).write(to: URL(filePath: file))
        #expect(try fixture.get(name, in: place) == [1])
        #expect(try fixture.names(in: place) == [Array(name.utf8)])
        #expect(try fixture.places() == [place])
        try fixture.set(name, [2], in: place)
        #expect(FileManager.default.contents(atPath: file) == Data([2]))
        #expect(try fixture.get(name, in: place) == [2])
        #expect(try fixture.store.remove(fixture.key(name, in: place)))
        #expect(try fixture.names(in: place).isEmpty)
        // A new value is spelled as its file system has room for.
        try fixture.set(name, [3], in: place)
        #expect(FileManager.default.contents(atPath: "\(folder)/\(String(repeating: "%41", count: 60))") == Data([3]))
    }

    @Test(
        "of any length are kept, in folders that are removed with the last value",
        arguments: [
            String(repeating: "a", count: 255), String(repeating: "a", count: 256), String(repeating: "a", count: 1024),
            String(repeating: "A", count: 85), String(repeating: "A", count: 86), String(repeating: "A", count: 1024),
            String(repeating: "\u{1F600}", count: 256), String(repeating: ".", count: 1024),
            String(repeating: "a", count: 480) + "..",
            String(repeating: "a", count: 240) + "." + String(repeating: "b", count: 30),
            String(repeating: "a", count: 239) + "A" + String(repeating: "b", count: 30),
            String(repeating: "a", count: 241) + String(repeating: "\u{e9}", count: 300),
        ])
    func long(name: String) throws {
        let longer = name.utf8.count < 1024 ? name + "x" : String(name.dropLast(1))
        try fixture.set(name, [1])
        try fixture.set(longer, [2])
        #expect(try fixture.get(name) == [1])
        #expect(try fixture.get(longer) == [2])
        #expect(
            try fixture.names() == [name, longer].map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) })
        for file in try FileManager.default.subpathsOfDirectory(atPath: fixture.folder.path) {
            let pieces = file.split(separator: "/")
            #expect(pieces.allSatisfy { $0.utf8.count <= 255 && ($0.first != "." || $0 == ".tmp") })
        }
        #expect(try fixture.store.remove(fixture.key(name)))
        #expect(try fixture.get(longer) == [2])
        #expect(try fixture.store.remove(fixture.key(longer)))
        #expect(try fixture.folder.entries("fileSystem@documents") == [".tmp"])
    }

    @Test("of random bytes come back from the folder unchanged")
    func random() throws {
        var generator = SystemRandomNumberGenerator()
        let letters = Array("aA0.%~/\u{e9} \n@_-".unicodeScalars)
        var names: Set<[UInt8]> = []
        for _ in 0..<60 {
            var name = ""
            for _ in 0..<Int.random(in: 1...300, using: &generator) {
                name.unicodeScalars.append(letters.randomElement(using: &generator) ?? "a")
            }
            names.insert(Array(name.utf8))
            try fixture.set(name, Array(name.utf8))
        }
        let found = try fixture.names()
        #expect(found == names.sorted { $0.lexicographicallyPrecedes($1) })
        for name in found { #expect(try fixture.get(String(decoding: name, as: UTF8.self)) == name) }
    }

    @Test(
        "of foreign files are left out",
        arguments: [
            "Upper", "%4a", "%61", "a b", "%", "%2", "%GG", "a%2E", ".hidden", "~", "a~", "%C3", "%00", "\u{e9}", "%2e",
            "a%2E.b", "%2Eb%2e",
        ])
    func foreign(file: String) throws {
        try fixture.set("mine", [1])
        let path = fixture.folder.path + "/fileSystem@documents/"
        try Data().write(to: URL(filePath: path + file))
        let expected = file == "a%2E" ? ["a.", "mine"] : ["mine"]
        #expect(try fixture.names() == expected.map { Array($0.utf8) })
    }

    @Test("in foreign folders are left out")
    func foreignFolders() throws {
        try fixture.set("mine", [1])
        let place = fixture.folder.path + "/fileSystem@documents"
        var path = place
        for _ in 0..<20 {
            path += "/aaa~"
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            try Data().write(to: URL(filePath: path + "/file"))
        }
        try FileManager.default.createDirectory(atPath: place + "/plain", withIntermediateDirectories: false)
        try Data().write(to: URL(filePath: place + "/plain/file"))
        #expect(try fixture.names() == [Array("mine".utf8)])
    }
}
