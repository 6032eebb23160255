import FoundationEssentials
import Testing

@Suite("Imports of more values than are stored at once", .serialized)
struct ImportTests {
    private static let count = 5000

    private func home() throws -> (home: Home, file: String) {
        let home = try Home()
        try home.keepUserDefaultsInFiles()
        let values = Dictionary(uniqueKeysWithValues: (0..<Self.count).map { ("k\($0)", "value \($0)") })
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let file = "\(home.path)/values.json"
        try encoder.encode(values).write(to: URL(filePath: file))
        return (home, file)
    }

    private func stored(_ home: Home) throws -> Int {
        try home.done("ls", "userDefaults").text.split(separator: "\n").count
    }

    @Test("an interrupted import says how many values are stored, and a repetition completes it")
    func interrupted() throws {
        let (home, file) = try home()
        // The last value in the document's order.
        let obstacle = home.files("userDefaults/k999")
        try FileManager.default.createDirectory(atPath: obstacle, withIntermediateDirectories: true)
        let ending = try home.run("import", "userDefaults", file)
        #expect(ending.status == 2)
        #expect(
            ending.errors.contains(
                "ld-host: 4096 of 5000 values are stored; to store the others too, run the import again\nld-host: error: "
            ),
            "\(ending.errors)")
        #expect(ending.text == "")
        #expect(try stored(home) == 4096)
        try FileManager.default.removeItem(atPath: obstacle)
        #expect(try home.done("import", "userDefaults", file).text == "imported 5000 values into userDefaults\n")
        #expect(try stored(home) == Self.count)
        #expect(try home.done("get", "userDefaults/k999").text.contains("value 999"))
    }

    @Test(
        "a mistake at the end of the document prevents the first value from being stored",
        arguments: [
            #""k1": 1}"#, #""x": 1e400}"#, #""x": {"$base64": "*"}}"#, #""x": 1"#, #""x": 1}}"#, #""x": 1,}"#,
            #""": 1}"#,
        ])
    func mistakes(_ end: String) throws {
        let (home, file) = try home()
        let text = try String(contentsOfFile: file, encoding: .utf8).dropLast()
        try Data("\(text), \(end)".utf8).write(to: URL(filePath: file))
        let ending = try home.run("import", "userDefaults", file)
        #expect(ending.status == 2)
        #expect(!ending.errors.contains("are stored"), "\(ending.errors)")
        #expect(try stored(home) == 0)
    }

    @Test("standard input is imported from its current position, whether or not it can be read twice")
    func standardInput() throws {
        let (home, _) = try home()
        let ending = try home.shell(
            """
            cat values.json | ld-host import userDefaults:pipe - || exit 1
            { echo skipped; cat values.json; } > both
            { read -r first; ld-host import userDefaults:file -; } < both || exit 1
            ld-host export userDefaults:pipe > pipe; ld-host export userDefaults:file > file; cmp pipe file && wc -l < file
            """)
        #expect(ending.status == 0, "\(ending.errors)")
        #expect(
            ending.text == """
                imported 5000 values into userDefaults:pipe
                imported 5000 values into userDefaults:file
                5002

                """)
    }

    @Test("only checked values are stored: a document that changes meanwhile is refused")
    func changed() throws {
        let (home, file) = try home()
        let library = try PreloadedLibrary.build("changing", prefix: "changing", in: "CommandLineTests/Programs")
        let ending = try home.run(
            "import", "userDefaults", file, adding: ["LD_PRELOAD": library, "CHANGING_FILE": file])
        #expect(ending.status == 2)
        #expect(
            ending.errors.contains("ld-host: error: '\(file)' was changed while it was imported\n"), "\(ending.errors)"
        )
        #expect(try stored(home) == 0)
    }
}
