import FoundationEssentials
import Glibc
import Testing

/// A member of a group can change the values that a shared store keeps. It must not be able to do anything else to the
/// other members.
@Suite("A store that a group shares, with a hostile member", .enabled(if: Users.areAvailable))
struct SharedStoreAsRootTests {
    private let users: Users
    private let root: String
    private var attacker: Users.User { users.first }
    private var victim: Users.User { users.second }
    private var store: [String] {
        ["-c", "stores.sh.component=file", "-c", "stores.sh.options.root=\(root)", "-c", "domains.userDefaults=sh"]
    }
    private var journal: String { "\(root)/.batch/journal" }
    private var precious: String { "\(victim.home)/private" }

    init() throws {
        users = try Users()
        root = try users.shared("shared", owner: users.first)
        try users.makeFolder(precious, 0o700, victim)
        try users.makeFile("\(precious)/keep", "precious".utf8, 0o600, victim)
        let ending = try run("set", "userDefaults/theme", "dark")
        #expect(ending.status == 0, "\(ending.errors)")
    }

    /// Runs `ld-host` as the victim.
    private func run(_ words: String...) throws -> Home.Ending { try users.run(victim, store + words) }

    /// Makes the attacker commit a batch.
    private func commit(_ journal: ForgedJournal, as user: Users.User? = nil) throws {
        let folder = "\(root)/.batch"
        if !users.exists(folder) { try users.makeFolder(folder, 0o2770, attacker) }
        try users.makeFile(self.journal, journal.bytes, 0o660, user ?? attacker)
    }

    private func expectRefusal(_ text: String, location: SourceLocation = #_sourceLocation) throws {
        let reading = try run("get", "userDefaults/theme")
        #expect(reading.status == 0, "\(reading.errors)", sourceLocation: location)
        #expect(reading.text.contains("dark"), sourceLocation: location)
        let writing = try run("set", "userDefaults/theme", "light")
        #expect(writing.status == 2, sourceLocation: location)
        #expect(writing.errors.contains(text), "\(writing.errors)", sourceLocation: location)
        #expect(writing.errors.contains(journal), "\(writing.errors)", sourceLocation: location)
        #expect(users.exists(journal), "the journal is kept", sourceLocation: location)
        #expect(users.text("\(precious)/keep") == "precious", sourceLocation: location)
    }

    @Test("a journal cannot change another member's files through a link")
    func links() throws {
        try users.makeLink("\(root)/s", to: precious, attacker)
        try commit(ForgedJournal(places: [(true, "s")], changes: [(0, false, "keep")]))
        let writing = try run("set", "userDefaults/theme", "light")
        #expect(writing.status == 2)
        #expect(writing.errors.contains("'\(root)/s': it is a symbolic link"), "\(writing.errors)")
        #expect(users.text("\(precious)/keep") == "precious")
        let reading = try run("get", "userDefaults/theme")
        #expect(reading.text.contains("dark"))
    }

    @Test("a journal in another member's own file cannot name anything outside the root")
    func ownFile() throws {
        try commit(ForgedJournal(places: [(false, precious)], changes: [(0, false, "keep")]), as: victim)
        try expectRefusal("it changes '\(precious)', which is outside of the root")
    }

    @Test("a journal does not reach folders below the root that their owner shares with nobody")
    func privateFolder() throws {
        let inner = "\(root)/mine"
        try users.makeFolder(inner, 0o700, victim)
        try users.makeFile("\(inner)/keep", "precious".utf8, 0o600, victim)
        try commit(ForgedJournal(places: [(true, "mine")], changes: [(0, false, "keep")]))
        try expectRefusal("it changes '\(inner)', which its group does not share")
        #expect(users.text("\(inner)/keep") == "precious")
    }

    @Test(
        "a journal cannot name paths other than values'", arguments: ["../second/private/keep", ".tmp/x", "a/b"])
    func strangeNames(path: String) throws {
        try commit(ForgedJournal(places: [(true, "userDefaults")], changes: [(0, false, path)]))
        try expectRefusal("it changes '\(path)', which is not the path of a value")
    }

    @Test("a journal that is a pipe makes no process wait")
    func pipe() throws {
        try users.makeFolder("\(root)/.batch", 0o2770, attacker)
        #expect(mkfifo(journal, 0o660) == 0)
        #expect(chown(journal, attacker.number, attacker.group) == 0)
        try expectRefusal("it is a pipe")
    }

    @Test("a batch of a member who died is completed by another")
    func completed() throws {
        let place = "\(root)/userDefaults"
        let forged = ForgedJournal(places: [(true, "userDefaults")], changes: [(0, true, "theme"), (0, false, "old")])
        try users.makeFile("\(place)/.tmp/.\(forged.id)-0", "\"light\"".utf8, 0o660, attacker)
        try commit(forged)
        let reading = try run("get", "userDefaults/theme")
        #expect(reading.text.contains("light"), "\(reading.errors)")
        #expect(!users.exists(journal))
    }

    @Test("a read waits only a moment for a lock that another member holds")
    func lock() throws {
        try commit(ForgedJournal(places: [(true, "userDefaults")], changes: [(0, false, "theme")]))
        let lock = "\(root)/.batch/lock"
        try users.makeFile(lock, [], 0o660, attacker)
        let held = open(lock, O_RDWR | O_CLOEXEC)
        defer { close(held) }
        #expect(flock(held, LOCK_EX | LOCK_NB) == 0)
        let reading = try run("get", "userDefaults/theme")
        #expect(reading.status == 0, "\(reading.errors)")
        #expect(reading.text.contains("dark"))
    }

    @Test("a damaged journal is reported, leaves values readable, and is repaired on request")
    func damagedJournal() throws {
        try commit(ForgedJournal(places: [(true, "userDefaults")], changes: [(0, false, "theme")]))
        var bytes = try #require(FileManager.default.contents(atPath: journal))
        bytes[30] ^= 1
        try users.makeFile(journal, bytes, 0o660, attacker)
        try expectRefusal("the journal is damaged")
        let diagnosis = try run("doctor")
        #expect(diagnosis.status == 2)
        #expect(diagnosis.text.contains("'\(journal)': the journal is damaged"), "\(diagnosis.text)")
        #expect(diagnosis.text.contains("ld-host doctor --repair"))
        let repair = try run("doctor", "--repair")
        #expect(repair.text.contains("store 'sh' was repaired: "), "\(repair.text)\(repair.errors)")
        let writing = try run("set", "userDefaults/theme", "light")
        #expect(writing.status == 0, "\(writing.errors)")
    }

    @Test("the superuser leaves another user's private store alone")
    func superuser() throws {
        let value = "fileSystem/x"
        #expect(try users.run(attacker, "set", value, "1").status == 0)
        let home = attacker.home
        let folders = [
            "HOME": home, "XDG_CONFIG_HOME": "\(home)/.config", "XDG_DATA_HOME": "\(home)/.local/share",
            "XDG_CACHE_HOME": "\(home)/.cache", "XDG_STATE_HOME": "\(home)/.local/state",
        ]
        for address in [value, "userDefaults/x"] {
            let ending = try Home().run("get", address, adding: folders)
            #expect(ending.status == 2)
            #expect(ending.errors.contains("belongs to user 7001, and this process runs as root"), "\(ending.errors)")
        }
        #expect(try users.run(attacker, "get", value).text.contains("1"))
    }
}
