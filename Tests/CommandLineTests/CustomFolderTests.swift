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

    @Test(
        "an encrypted value in the folder itself, as before, is found and moved; nothing replaces it",
        arguments: ["get", "set", "ls", "plain set", "plain get", "rm"])
    func formerLayout(_ first: String) throws {
        let address = "encryptedFileSystem:\(scope)/profile"
        for name in ["profile", "other"] { try set("encryptedFileSystem:\(scope)/\(name)", "enc \(name)") }
        // An envelope belongs to the domain and the path that the user names, wherever its file is.
        let files = FileManager.default
        for name in ["profile", "other"] {
            try files.moveItem(atPath: "\(folder)/encryptedFileSystem/\(name)", toPath: "\(folder)/\(name)")
        }
        try Data("just a file".utf8).write(to: URL(filePath: "\(folder)/text"))
        switch first {
        case "set": try set(address, "enc profile")
        case "ls":
            #expect(
                try home.done("ls", "encryptedFileSystem:\(scope)").text
                    == "encryptedFileSystem:\(scope)/other\nencryptedFileSystem:\(scope)/profile\n")
        case "plain set": try set("fileSystem:\(scope)/profile", "plain")
        case "plain get": #expect(try home.run("get", "fileSystem:\(scope)/profile").status == 1)
        case "rm":
            try home.done("rm", address)
            #expect(try home.run("get", address).status == 1)
            try set(address, "enc profile")
        default: break
        }
        #expect(try get(address) == "enc profile")
        #expect(try get("encryptedFileSystem:\(scope)/other") == "enc other")
        #expect(!files.fileExists(atPath: "\(folder)/other"))
        #expect(files.fileExists(atPath: "\(folder)/profile") == (first == "plain set"))
        #expect(try get("fileSystem:\(scope)/text") == "just a file")
        #expect(try home.run("get", "encryptedFileSystem:\(scope)/text").status == 1)
    }

    @Test("values in the folder itself are reported by doctor and by a plan, which do not move them")
    func reported() throws {
        let files = FileManager.default
        for name in ["profile", "other"] {
            try set("encryptedFileSystem:\(scope)/\(name)", "enc")
            try files.moveItem(atPath: "\(folder)/encryptedFileSystem/\(name)", toPath: "\(folder)/\(name)")
        }
        try set("fileSystem:\(scope)/text", "plain")
        let report = "2 encrypted values of 'encryptedFileSystem:\(scope)' are in the folder itself"
        #expect(try home.run("doctor").text.contains(report))
        #expect(try home.done("migrate", "plan").errors.contains(report))
        for name in ["profile", "other"] { #expect(files.fileExists(atPath: "\(folder)/\(name)")) }
        try home.done("ls", "encryptedFileSystem:\(scope)")
        #expect(try !home.run("doctor").text.contains("in the folder itself"))
        #expect(try get("encryptedFileSystem:\(scope)/other") == "enc")
    }
}
