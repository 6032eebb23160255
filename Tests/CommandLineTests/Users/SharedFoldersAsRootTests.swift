import FoundationEssentials
import Glibc
import Testing

/// Attacks through folders that others may write to: an app group's, or one like `/tmp`.
@Suite("Folders that others may write to", .enabled(if: Users.areAvailable))
struct SharedFoldersAsRootTests {
    private let users: Users
    private let shared: String
    private var attacker: Users.User { users.first }
    private var victim: Users.User { users.second }

    init() throws {
        users = try Users()
        shared = try users.shared("shared", owner: users.first)
    }

    @Test("an app group's folder that is a link is not followed")
    func appGroup() throws {
        let groups = ["-c", "appGroups.path=\(shared)"]
        let address = "appGroupFileSystem:g:documents/keep"
        #expect(try users.run(victim, groups + ["set", address, "1"]).status == 0)
        let precious = "\(victim.home)/private"
        try users.makeFolder(precious, 0o700, victim)
        try users.makeFile("\(precious)/keep", "precious".utf8, 0o600, victim)
        let folder = "\(shared)/g/documents"
        #expect(rename(folder, "\(shared)/g/old") == 0)
        try users.makeLink(folder, to: precious, attacker)
        for words in [["set", address, "group value"], ["rm", address], ["get", address]] {
            let ending = try users.run(victim, groups + words)
            #expect(ending.status != 0, "\(words)")
            #expect(ending.errors.contains("'\(folder)': it is a symbolic link"), "\(ending.errors)")
        }
        #expect(users.text("\(precious)/keep") == "precious")
    }

    @Test(
        "a database in a shared folder is opened only if none of its files is a trap",
        arguments: ["v.sqlite", "v.sqlite-wal", "v.sqlite-shm", "v.sqlite-journal", "hard link", "folder"])
    func database(trap: String) throws {
        #expect(try users.run(victim, "set", "userDefaults/own", "precious").status == 0)
        let own = "\(victim.home)/.local/share/localdata/values.sqlite"
        let folder = "\(shared)/db"
        let file = "\(folder)/v.sqlite"
        let store = [
            "-c", "stores.sh.component=sqlite", "-c", "stores.sh.options.path=\(file)", "-c", "domains.userDefaults=sh",
        ]
        try users.makeFolder(folder, 0o2770, attacker)
        #expect(try users.run(attacker, store + ["set", "userDefaults/own", "shared"]).status == 0)
        #expect(try users.run(victim, store + ["get", "userDefaults/own"]).text.contains("shared"))
        switch trap {
        case "folder":
            #expect(rename(folder, "\(folder).away") == 0)
            try users.makeFolder("\(victim.home)/db", 0o700, victim)
            #expect(rename(own, "\(victim.home)/db/v.sqlite") == 0)
            try users.makeLink(folder, to: "\(victim.home)/db", attacker)
        case "hard link":
            #expect(unlink(file) == 0)
            #expect(link(own, file) == 0)
        default:
            unlink("\(folder)/\(trap)")
            try users.makeLink("\(folder)/\(trap)", to: own, attacker)
        }
        let writing = try users.run(victim, store + ["set", "userDefaults/own", "overwritten"])
        #expect(writing.status == 2, "\(writing.errors)")
        #expect(writing.errors.contains("link"), "\(writing.errors)")
        if trap == "folder" { #expect(rename("\(victim.home)/db/v.sqlite", own) == 0) }
        #expect(try users.run(victim, "get", "userDefaults/own").text.contains("precious"))
    }

    @Test("no user puts temporary files into a folder that another user has created")
    func temporaryFiles() throws {
        let sticky = "\(users.folder)/sticky"
        try users.makeFolder(sticky, 0o1777, users.stranger)
        try users.makeFolder("\(sticky)/.tmp", 0o777, attacker)
        let audit = try users.run(victim, "audit", "--html", "\(sticky)/audit.html")
        #expect(audit.status == 0, "\(audit.errors)")
        var status = stat()
        #expect(stat("\(sticky)/audit.html", &status) == 0 && status.st_uid == victim.number)
        #expect(try FileManager.default.contentsOfDirectory(atPath: sticky).sorted() == [".tmp", "audit.html"])
        let folder = sticky.split(separator: "/").map { "%2F\($0)" }.joined()
        let writing = try users.run(victim, "set", "fileSystem:\(folder)/x", "1")
        #expect(writing.status == 2)
        #expect(writing.errors.contains("'\(sticky)/.tmp': the folder belongs to user 7001"), "\(writing.errors)")
    }
}
