import FoundationEssentials
import Glibc
import LocalDataAPI
import LocalDataHost
import TestSupport
import Testing

@Suite("ConfigurationLocations")
struct ConfigurationLocationsTests {
    /// Runs a body with a new directory, and removes it.
    private func withDirectory(_ body: (String) throws -> Void) throws {
        let folder = try TemporaryFolder()
        try TemporaryFolder.makeFolder(folder.path + "/home/.config/localdata")
        try withExtendedLifetime(folder) { try body(folder.path) }
    }

    private func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(filePath: path))
    }

    private func locations(_ directory: String, _ environment: [String: String] = [:]) -> ConfigurationLocations {
        ConfigurationLocations(
            environment: environment.merging(["HOME": directory + "/home"]) { given, _ in given },
            systemFile: directory + "/system.json", isPrivileged: false)
    }

    @Test("directories follow the XDG specification")
    func directories() {
        let plain = ConfigurationLocations(environment: ["HOME": "/h"], isPrivileged: false)
        #expect(plain.systemFile == "/etc/localdata/config.json")
        #expect(plain.userFile == "/h/.config/localdata/config.json")
        #expect(plain.dataDirectory == "/h/.local/share/localdata")
        #expect(plain.cacheDirectory == "/h/.cache/localdata")
        #expect(plain.stateDirectory == "/h/.local/state/localdata")
        #expect(plain.namedFile == nil)
        let set = ConfigurationLocations(
            environment: [
                "HOME": "/h", "XDG_CONFIG_HOME": "/c/", "XDG_DATA_HOME": "/d", "XDG_CACHE_HOME": "relative",
                "XDG_STATE_HOME": "", "LOCALDATA_CONFIG": "x.json",
            ], isPrivileged: false)
        #expect(set.userFile == "/c/localdata/config.json")
        #expect(set.dataDirectory == "/d/localdata")
        #expect(set.cacheDirectory == "/h/.cache/localdata")
        #expect(set.stateDirectory == "/h/.local/state/localdata")
        #expect(set.namedFile == "x.json")
    }

    @Test("without a usable HOME the user database decides", arguments: [[:], ["HOME": ""], ["HOME": "relative"]])
    func homeOfUser(environment: [String: String]) throws {
        let locations = ConfigurationLocations(environment: environment, isPrivileged: false)
        // A user without an entry has no home.
        let home = getpwuid(geteuid()).map { String(cString: $0.pointee.pw_dir) }
        #expect(locations.home == home)
    }

    @Test("a program with more rights than its caller ignores the environment")
    func privileged() {
        let environment = [
            "HOME": "/evil", "XDG_CONFIG_HOME": "/evil", "XDG_DATA_HOME": "/evil", "XDG_CACHE_HOME": "/evil",
            "XDG_STATE_HOME": "/evil", "LOCALDATA_CONFIG": "/evil/c.json",
        ]
        let locations = ConfigurationLocations(environment: environment, isPrivileged: true)
        #expect(locations.namedFile == nil)
        for path in [
            locations.home, locations.userFile, locations.dataDirectory, locations.cacheDirectory,
            locations.stateDirectory,
        ] { #expect(path?.hasPrefix("/evil") != true) }
    }

    @Test("a program with the rights of its caller is not elevated")
    func elevated() {
        #expect(!ProcessPrivilege.isElevated)
    }

    @Test("without files the defaults apply")
    func noFiles() throws {
        try withDirectory { directory in
            let configuration = try locations(directory).load()
            #expect(configuration.layers.map(\.name) == [.default])
            #expect(configuration.effective == ConfigurationSchema.host.defaults)
        }
    }

    @Test("every layer overrides those before it")
    func order() throws {
        try withDirectory { directory in
            let files = ["system", "home/.config/localdata/config", "named", "flag"].map { "\(directory)/\($0).json" }
            for (index, file) in files.enumerated() {
                // The first file has all members, the second all but the first, and so on.
                let members = (index..<6).map { "v\($0): \(index)" }
                try write("{\n\(members.joined(separator: ",\n"))\n}", to: file)
            }
            let configuration = try locations(directory, ["LOCALDATA_CONFIG": files[2]])
                .load(flags: [.assignment("v4=4"), .file(files[3]), .assignment("v5=0"), .assignment("v5=5")])
                .setting(.integer(6), at: ["v6"])
            #expect(
                configuration.layers.map(\.name) == [
                    .default, .system, .user, .environment, .flag, .flag, .flag, .flag, .code,
                ])
            let origins = try (0..<7).map { index in
                let (value, origin) = try #require(configuration.value(at: ["v\(index)"]))
                #expect(value == .integer(Int64(min(index, 6))))
                return "\(origin)"
            }
            #expect(
                origins == [
                    "\(files[0]):2", "\(files[1]):2", "\(files[2]):2", "\(files[3]):2", "flag -c v4=4", "flag -c v5=5",
                    "code",
                ])
        }
    }

    @Test("a file that was named must exist, and the error says how to make one")
    func missing() throws {
        try withDirectory { directory in
            let path = directory + "/none.json"
            for (environment, flags, name) in [
                (["LOCALDATA_CONFIG": path], [], "LOCALDATA_CONFIG"), ([:], [ConfigurationFlag.file(path)], "--config"),
            ] {
                let error = #expect(throws: StorageError.self) {
                    try locations(directory, environment).load(flags: flags)
                }
                #expect(error?.code == .invalidConfiguration)
                #expect(error?.message.contains("\(path), named by \(name): expected a file, found none") == true)
                #expect(error?.hint.contains("echo '{}' >") == true)
            }
        }
    }

    @Test("an irregular file is refused at once", arguments: ["a directory", "a FIFO", "a device"])
    func notRegular(kind: String) throws {
        try withDirectory { directory in
            let path = kind == "a device" ? "/dev/zero" : directory + "/odd"
            switch kind {
            case "a directory": #expect(mkdir(path, 0o700) == 0)
            case "a FIFO": #expect(mkfifo(path, 0o600) == 0)
            default: break
            }
            let error = #expect(throws: StorageError.self) { try ConfigurationDocument(path: path) }
            #expect(error?.message == "configuration \(path): expected a regular file, found \(kind)")
        }
    }

    @Test("a file where a folder should be means that there is no configuration")
    func notADirectory() throws {
        try withDirectory { directory in
            let configuration = try locations(directory, ["HOME": "/dev/null"]).load()
            #expect(configuration.layers.count == 1)
        }
    }

    @Test("a file that is too large is refused, also if its size is not known before")
    func tooLarge() throws {
        try withDirectory { directory in
            let path = directory + "/large.json"
            try write("{}" + String(repeating: " ", count: ConfigurationDocument.maximumSize - 2), to: path)
            #expect(try ConfigurationDocument(path: path)?.value == .object([:]))
            try write("{}" + String(repeating: " ", count: ConfigurationDocument.maximumSize - 1), to: path)
            let error = #expect(throws: StorageError.self) { try ConfigurationDocument(path: path) }
            #expect(error?.message.contains("expected at most 1048576 bytes, found 1048577") == true)
        }
    }

    @Test("a link is followed, a loop of links is an error")
    func links() throws {
        try withDirectory { directory in
            try write("{ a: 1 }", to: directory + "/real.json")
            #expect(symlink("real.json", directory + "/link.json") == 0)
            #expect(symlink("loop.json", directory + "/loop.json") == 0)
            #expect(try ConfigurationDocument(path: directory + "/link.json")?.value[["a"]] == .integer(1))
            #expect(throws: StorageError.fileError) { try ConfigurationDocument(path: directory + "/loop.json") }
        }
    }

    @Test("a file that may not be read is an error, not a missing one", .enabled(if: geteuid() != 0))
    func unreadable() throws {
        try withDirectory { directory in
            let file = directory + "/home/.config/localdata/config.json"
            try write("{}", to: file)
            #expect(chmod(file, 0) == 0)
            #expect(throws: StorageError.permissionDenied) { try locations(directory).load() }
        }
    }

    @Test("a fault in any file names that file")
    func fault() throws {
        try withDirectory { directory in
            let file = directory + "/home/.config/localdata/config.json"
            try write("{\n  a 1\n}", to: file)
            let error = #expect(throws: StorageError.self) { try locations(directory).load() }
            #expect(error?.message == "\(file):2:5: expected ':' after the key, found '1'")
        }
    }
}
