import Testing

/// 64 bits hold nanoseconds since 1970 up to 2262-04-11.
@Suite("A clock beyond what values' times can hold")
struct LateClockTests {
    private let home: Home

    init() throws { home = try Home() }

    @Test(
        "ends no command by a signal; values are stored, read and listed",
        arguments: ["userDefaults", "fileSystem", "keychain:app", "encryptedFileSystem"],
        ["2262-04-12 00:00:00", "9999-01-01 00:00:00"])
    func late(_ domain: String, _ time: String) throws {
        try home.done("set", "\(domain)/early", "--stdin", input: Array("E".utf8))
        for (line, expected) in [
            ("printf L | ld-host set \(domain)/late --stdin", ""), ("ld-host get \(domain)/late", "L"),
            ("ld-host get \(domain)/early", "E"), ("ld-host exists \(domain)/early", ""),
            ("ld-host rm \(domain)/late", ""),
        ] {
            let ending = try run(line, at: time)
            #expect(ending.status == 0 && ending.text == expected, "\(line): \(ending.text) \(ending.errors)")
        }
        for line in [
            "ld-host ls -l \(domain)", "ld-host audit", "ld-host doctor --scrub", "ld-host store test file",
            "printf T | ld-host set \(domain)/soon --stdin --expires 1h", "ld-host ls", "ld-host migrate plan",
            "echo pass | ld-host backup b --overwrite --passphrase-fd 0", "ld-host plugins test file",
        ] {
            let ending = try run(line, at: time)
            #expect(ending.status < 128, "\(line): \(ending.status) \(ending.errors)")
            #expect(!ending.errors.contains("Fatal error"), "\(line): \(ending.errors)")
        }
        #expect(try home.done("get", "\(domain)/early").text == "E")
    }

    private func run(_ line: String, at time: String) throws -> Home.Ending {
        try home.shell(line.replacing("ld-host", with: "faketime '\(time)' ld-host"))
    }
}
