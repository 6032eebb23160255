import FoundationEssentials
import Testing

@Suite("Values in a folder that the user names") struct CustomFolderTests {
    private let home: Home
    private let folder: String
    /// The folder as the scope of an address.
    private var scope: String { folder.replacing("/", with: "%2F") }

    init() throws {
        home = try Home()
        folder = "\(home.path)/own"
    }

    private func set(_ address: String, _ value: String) throws {
        try home.done("set", address, "--stdin", input: Array(value.utf8))
    }

    private func get(_ address: String) throws -> String { try home.run("get", address).text }

    @Test("a plain and an encrypted value of one name are two values")
    func domains() throws {
        try set("fileSystem:\(scope)/profile", "plain")
        try set("encryptedFileSystem:\(scope)/profile", "enc")
        #expect(try get("fileSystem:\(scope)/profile") == "plain")
        try set("fileSystem:\(scope)/profile", "again")
        #expect(try get("encryptedFileSystem:\(scope)/profile") == "enc")
        #expect(try get("fileSystem:\(scope)/profile") == "again")
        // Other programs find a plain value in the named folder.
        #expect(try String(contentsOfFile: "\(folder)/profile", encoding: .utf8) == "again")
        #expect(try home.done("ls", "fileSystem:\(scope)").text == "fileSystem:\(scope)/profile\n")
        try home.done("rm", "fileSystem:\(scope)/profile")
        #expect(try get("encryptedFileSystem:\(scope)/profile") == "enc")
    }

    @Test("no folder is that of two domains")
    func sharedFolders() throws {
        try set("encryptedFileSystem:\(scope)/profile", "enc")
        try set("appGroupFileSystem:team:documents/profile", "group")
        try set("fileSystem:caches/profile", "cache")
        let files = try home.shell("find . -name profile -printf '%h\\n' | sort").text.split(separator: "\n")
        try #require(files.count == 3, "\(files)")
        for folder in files.map({ "\(home.path)/\($0)" }) {
            for spelling in [folder, "\(folder)/../\(folder.split(separator: "/").last ?? "")//"] {
                let address = "fileSystem:\(spelling.replacing("/", with: "%2F"))/profile"
                let ending = try home.run("set", address, "--stdin", input: Array("plain".utf8))
                #expect(ending.status != 0 && ending.errors.contains("is one in which"), "\(address): \(ending.errors)")
            }
        }
        #expect(try get("encryptedFileSystem:\(scope)/profile") == "enc")
        #expect(try get("appGroupFileSystem:team:documents/profile") == "group")
        #expect(try get("fileSystem:caches/profile") == "cache")
    }

    @Test("two spellings of a folder are one location", arguments: ["fileSystem", "encryptedFileSystem"])
    func spellings(_ domain: String) throws {
        let other = "\(home.path)/own/../own/.//".replacing("/", with: "%2F")
        try set("\(domain):\(scope)/profile", "first")
        #expect(try get("\(domain):\(other)/profile") == "first")
        try set("\(domain):\(other)/profile", "second")
        #expect(try get("\(domain):\(scope)/profile") == "second")
    }
}
