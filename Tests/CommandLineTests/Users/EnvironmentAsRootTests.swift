import FoundationEssentials
import Glibc
import LocalDataHost
import TestSupport
import Testing

@Suite("The environment of another user", .enabled(if: Users.areAvailable))
struct EnvironmentAsRootTests {
    private let users: Users

    init() throws { users = try Users() }

    private func names(_ folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    }

    @Test("HOME, XDG_*, LOCALDATA_CONFIG and LOCALDATA_PLUGIN_PATH take effect")
    func counts() throws {
        let user = users.first
        let home = "\(user.home)/own"
        let variables = [
            "HOME": home, "XDG_DATA_HOME": "\(home)/d", "XDG_STATE_HOME": "\(home)/s",
            "LOCALDATA_CONFIG": "\(user.home)/named.json", "LOCALDATA_PLUGIN_PATH": "\(user.home)/plugins",
        ]
        let prepared = try users.shell(
            user,
            """
            mkdir own plugins && echo '{ domains: { userDefaults: "file" } }' >named.json
            cp "${PATH%%:*}/libMemoryStore.so" plugins/libOther.so
            """)
        #expect(prepared.status == 0, "\(prepared.errors)")

        let paths = try users.run(user, "config", "path", adding: variables)
        #expect(paths.text.contains("\(user.home)/named.json"))
        #expect(paths.text.contains("\(home)/.config/localdata/config.json"), "\(paths.text)")
        let plugins = try users.run(user, "plugins", "list", adding: variables)
        #expect((plugins.text + plugins.errors).contains("\(user.home)/plugins/libOther.so"), "\(plugins)")
        #expect(try users.run(user, "set", "userDefaults/theme", "dark", adding: variables).status == 0)
        #expect(try names("\(home)/d/localdata") == ["files"])

        // Without the variables the value is absent: it was stored only in the folders that the variables name.
        #expect(try users.run(user, "get", "userDefaults/theme").status == 1)
        #expect(try users.run(user, "get", "userDefaults/theme", adding: variables).text == "dark")
        let missing = try users.run(user, "ls", adding: ["LOCALDATA_CONFIG": "/nonexistent"])
        #expect(missing.status == 2)
        #expect(missing.errors.contains("/nonexistent"))
    }

    @Test("a configuration that another user has put into an open folder is refused, and one of root counts")
    func plantedConfiguration() throws {
        let (user, other) = (users.first, users.stranger)
        let open = try users.shared("open", owner: user, mode: 0o777)
        try users.makeFolder("\(open)/localdata", 0o777, user)
        let file = "\(open)/localdata/config.json"
        let planted = try users.shell(
            other, "umask 022; echo '{directories: {data: \"/tmp/elsewhere\"}}' >\(file)")
        #expect(planted.status == 0, "\(planted.errors)")
        let variables = ["XDG_CONFIG_HOME": open]
        for words in [
            ["set", "userDefaults/a", "1"], ["get", "userDefaults/a"], ["config", "set", "log.level", "info"],
        ] {
            let refused = try users.run(user, program: "\(Users.products)/ld-host", words, adding: variables)
            #expect(refused.status == 2)
            #expect(
                refused.errors.contains(
                    "\(file): expected a file of uid \(user.number) or uid 0 (root), found one of uid \(other.number)"),
                "\(refused.errors)")
        }
        #expect(chown(file, 0, 0) == 0)
        let counts = try users.run(user, "config", "get", "directories.data", adding: variables)
        #expect(counts.text == "/tmp/elsewhere\n", "\(counts)")
    }

    @Test("an app, which other processes may inspect, and ld-host see the same data")
    func sameData() throws {
        let user = users.second
        let variables = ["XDG_DATA_HOME": "\(user.home)/d", "XDG_CONFIG_HOME": "\(user.home)/c"]
        let app = "\(users.folder)/migration-exercise"
        try ProgramCopy.make(of: "\(BuiltProducts.folder)/migration-exercise", at: app)
        #expect(chmod(app, 0o755) == 0)
        let written = try users.run(
            user, program: app, ["legacy", "database", "files", "prepare"],
            adding: variables.merging(["LOCALDATA_PLUGIN_PATH": Users.products]) { $1 })
        #expect(written.status == 0, "\(written.errors)")
        let listed = try users.run(user, "ls", adding: variables)
        #expect(listed.text.contains("userDefaults"), "\(listed)")
        #expect(try names("\(user.home)/d/localdata").contains("values.sqlite"))
        #expect(!FileManager.default.fileExists(atPath: "\(user.home)/.local/share"))
    }

    @Test("a set-user-ID copy of ld-host ignores it")
    func elevated() throws {
        let user = users.stranger
        let program = "\(users.folder)/elevated"
        try ProgramCopy.make(of: "\(Users.products)/ld-host", at: program)
        #expect(chown(program, users.first.number, users.first.group) == 0 && chmod(program, 0o4755) == 0)
        let paths = try users.run(
            user, program: program, ["config", "path"], adding: ["LOCALDATA_CONFIG": "\(user.home)/named.json"])
        #expect(paths.status == 0)
        #expect(paths.text.split(separator: "\n").count == 1 && paths.text.hasPrefix("system "), "\(paths)")
    }

    @Test("the demonstration runs in it and writes to no home of the user database")
    func demo() throws {
        let user = users.first
        let script = "\(users.folder)/demo.sh"
        try ProgramCopy.make(of: "\(Repository.root)/Examples/demo.sh", at: script)
        #expect(chmod(script, 0o755) == 0)
        let ending = try users.run(user, program: script, [Users.products])
        #expect(ending.status == 0, "\(ending.errors)")
        #expect(ending.text.contains("7910 languages are in store 'sqlite'"))
        #expect(try names(user.home).isEmpty)
    }

    @Test("a configuration file keeps its owner and its group when root changes it")
    func ownership() throws {
        let user = users.first
        let prepared = try users.shell(user, "echo '{}' >named.json; chmod 640 named.json")
        #expect(prepared.status == 0, "\(prepared.errors)")
        let file = "\(user.home)/named.json"
        #expect(chown(file, 0, user.group) == 0)
        let home = try Home()
        try home.done("config", "set", "log.level", "info", "--config", file)
        var status = stat()
        #expect(stat(file, &status) == 0)
        #expect(status.st_uid == 0 && status.st_gid == user.group && status.st_mode & 0o777 == 0o640)
    }
}
