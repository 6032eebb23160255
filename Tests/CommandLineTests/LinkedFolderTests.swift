import FoundationEssentials
import Testing

@Suite("Folders that a symbolic link also leads to") struct LinkedFolderTests {
    private let home: Home

    init() throws {
        home = try Home()
        try FileManager.default.createDirectory(atPath: "\(home.path)/real", withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(atPath: "\(home.path)/link", withDestinationPath: "real")
    }

    private func address(_ domain: String, _ folder: String) -> String {
        "\(domain):\("\(home.path)/\(folder)".replacing("/", with: "%2F"))/value"
    }

    @Test(
        "the two paths are one location",
        arguments: ["fileSystem", "encryptedFileSystem"].flatMap { domain in
            ["file", "sqlite"].map { (domain, $0) }
        })
    func onePlace(_ domain: String, _ store: String) throws {
        try home.done("config", "set", "domains.\(domain)", store)
        let (link, real) = (address(domain, "link"), address(domain, "real"))
        try home.done("set", link, "--stdin", input: Array("first".utf8))
        #expect(try home.run("get", real).text == "first")
        try home.done("set", real, "--stdin", input: Array("second".utf8))
        #expect(try home.run("get", link).text == "second")
        if domain == "encryptedFileSystem" {
            try home.done("keys", "rotate")
            try home.done("reseal")
            #expect(try home.run("get", link).text == "second")
            #expect(try home.run("get", real).text == "second")
        }
        try home.done("rm", link)
        #expect(try home.run("get", real).status == 1)
    }

    @Test("an encrypted value that came from another folder does not open")
    func otherFolder() throws {
        for folder in ["real", "other"] {
            try home.done("set", address("encryptedFileSystem", folder), "--stdin", input: Array(folder.utf8))
        }
        let ending = try home.shell("cp other/encryptedFileSystem/value real/encryptedFileSystem/value")
        #expect(ending.status == 0, "\(ending.errors)")
        #expect(try home.run("get", address("encryptedFileSystem", "real")).status == 2)
        #expect(try home.run("get", address("encryptedFileSystem", "link")).status == 2)
    }

    @Test(
        "a store is not moved to itself by the other path",
        arguments: [("file", "root", ""), ("sqlite", "path", "/values.db")])
    func copying(_ component: String, _ option: String, _ name: String) throws {
        for folder in ["real", "link"] {
            try home.done(
                "config", "set", "stores.\(folder)",
                "{component: \"\(component)\", options: {\(option): \"\(home.path)/\(folder)\(name)\"}}")
        }
        try home.done("config", "set", "domains.userDefaults", "real")
        try home.done("set", "userDefaults/value", "kept")
        let ending = try home.run("store", "copy", "real", "link", "--move")
        #expect(ending.status == 2)
        #expect(ending.errors.contains("'real' and 'link' keep their values in the same location"), "\(ending.errors)")
        #expect(try home.done("get", "userDefaults/value").text == "kept")
    }
}
