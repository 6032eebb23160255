import FoundationEssentials
import Glibc
import LocalDataAPI
import TestSupport
import Testing

@testable import HostGround
@testable import LocalDataHost

/// A program that runs while its configuration is changed.
@Suite("what a running program follows") struct FollowingTests {
    /// A configuration file, with folders of its own.
    private struct Files {
        let fixture: FixtureBuilder
        var file: String { "\(fixture.folder)/config.json" }
        var flags: HostConfiguration.Flags { HostConfiguration.Flags(file: file) }

        init() throws {
            fixture = try FixtureBuilder()
            try write("file")
        }

        /// Replaces the whole file, as an editor does.
        func write(_ store: String, besides text: String = "") throws {
            let text = """
                {
                  directories: {
                    data: "\(fixture.folder)/data", cache: "\(fixture.folder)/cache", state: "\(fixture.folder)/state",
                    config: "\(fixture.folder)/config",
                  },
                  log: { level: "off" },
                  stores: { one: { component: "file", options: { root: "\(fixture.folder)/one" } } },
                  domains: { userDefaults: "\(store)" },
                  \(text)
                }
                """
            try Data(text.utf8).write(to: URL(filePath: file), options: .atomic)
        }

        /// Changes a value as `ld-host config set` does.
        func set(_ path: String, _ value: String) throws {
            _ = try HostConfiguration.load(flags: flags).change(path, to: value, flags: flags) { _ in [] }
        }

        func router(_ values: String...) throws -> StorageRouter {
            var flags = flags
            flags.values = values
            return StorageRouter(configuration: try HostConfiguration.load(flags: flags))
        }
    }

    private let key = textKey("k")

    @Test("a store that a command of ours names serves the very next call, and a value in it is there")
    func command() async throws {
        let files = try Files()
        defer { files.fixture.remove() }
        let (program, other) = (try files.router(), try files.router("domains.userDefaults=one"))
        try await program.set("in file", for: key)
        try await other.set("in one", for: key)
        for _ in 0..<50 {
            try files.set("domains.userDefaults", "one")
            #expect(try await program.get(key) == "in one")
            #expect(try await program.exists(key))
            try files.set("domains.userDefaults", "file")
            #expect(try await program.get(key) == "in file")
        }
        try files.set("domains.userDefaults", "one")
        try await program.set("set after the change", for: key)
        #expect(try await other.get(key) == "set after the change")
    }

    @Test("a value that only the former store has is absent to nobody, until it is moved or may stay there")
    func elsewhere() async throws {
        let files = try Files()
        defer { files.fixture.remove() }
        let program = try files.router()
        let untyped = AnyStorageKey(key)
        let fresh = textKey("fresh")
        try await program.set("in file", for: key)
        try files.set("domains.userDefaults", "one")
        func expectError(_ location: SourceLocation = #_sourceLocation, _ call: () async throws -> Void) async {
            let error = await #expect(throws: StorageError.self, sourceLocation: location) { try await call() }
            #expect(error?.code == .invalidConfiguration, "\(error as Any)", sourceLocation: location)
            #expect(error?.message.contains("store 'file' has it") == true, sourceLocation: location)
        }
        func expectErrors() async {
            await expectError { _ = try await program.get(key) }
            await expectError { _ = try await program.value(of: key) }
            await expectError { _ = try await program.exists(key) }
            await expectError { _ = try await program.remove(key) as Bool }
            await expectError { _ = try await program.create("new", for: key) }
            await expectError { _ = try await program.update(key) { $0 = "new" } }
            await expectError { _ = try await program.data(for: untyped) }
            await expectError { _ = try await program.exists(untyped) }
            await expectError { _ = try await program.remove(untyped) as Bool }
            await expectError { _ = try await program.createData(Data("new".utf8), for: untyped) }
        }
        await expectErrors()
        #expect(try await !program.exists(fresh))
        try await program.create("new", for: fresh)
        // A program that starts now knows it as well.
        let late = try files.router()
        await expectError { _ = try await late.exists(key) }
        try await program.stores.forgetLeftValues(in: "file", domains: ["userDefaults"])
        #expect(try await !program.exists(key))
        // What another store has set since counts again.
        try files.set("domains.userDefaults", "file")
        #expect(try await program.get(key) == "in file")
        try files.set("domains.userDefaults", "one")
        await expectErrors()
        _ = try await program.stores.copy("file", to: "one", domains: ["userDefaults"], moving: true)
        #expect(try await program.get(key) == "in file")
        #expect(try await program.remove(key))
        #expect(try await !program.exists(key))
    }

    @Test("so does a changed option of the store")
    func option() async throws {
        let files = try Files()
        defer { files.fixture.remove() }
        try files.set("domains.userDefaults", "one")
        let program = try files.router()
        try await program.set("first", for: key)
        try files.set("stores.one.options.root", "\(files.fixture.folder)/two")
        #expect(try await !program.exists(key))
        try await program.set("second", for: key)
        try files.set("stores.one.options.root", "\(files.fixture.folder)/one")
        #expect(try await program.get(key) == "first")
    }

    @Test("what an editor changes is followed a moment later", .timeLimit(.minutes(1)), arguments: [true, false])
    func editor(replacesFile: Bool) async throws {
        let files = try Files()
        defer { files.fixture.remove() }
        let program = try files.router()
        try await program.set("in file", for: key)
        let before = try String(contentsOfFile: files.file, encoding: .utf8)
        let after = before.replacing("userDefaults: \"file\"", with: "userDefaults: \"one\"")
        try #require(after != before)
        try Data(after.utf8).write(to: URL(filePath: files.file), options: replacesFile ? .atomic : [])
        while try await program.exists(key) { try await Task.sleep(for: .milliseconds(5)) }
    }

    @Test("a file that cannot be read is an error of every call, until it can; no call answers from the old store")
    func unreadable() async throws {
        let files = try Files()
        defer { files.fixture.remove() }
        let program = try files.router()
        try await program.set("in file", for: key)
        try Data("{ domains: {".utf8).write(to: URL(filePath: files.file), options: .atomic)
        ConfigurationPage.ofUser.note(files.file)
        for _ in 0..<2 {
            let error = await #expect(throws: StorageError.self) { try await program.get(key) }
            #expect(error?.code == .invalidConfiguration && error?.message.contains(files.file) == true)
            await #expect(throws: StorageError.self) { try await program.exists(key) }
            await #expect(throws: StorageError.self) { try await program.set("lost", for: key) }
        }
        try files.write("file")
        ConfigurationPage.ofUser.note(files.file)
        #expect(try await program.get(key) == "in file")
    }

    @Test("a store that is given by a flag or in code stays, and is refused once the files take that store away")
    func overridden() async throws {
        let files = try Files()
        defer { files.fixture.remove() }
        try files.set("domains.userDefaults", "one")
        let (flag, code) = (try files.router("domains.userDefaults=one"), try files.router())
        try await code.configure("domains.userDefaults", "one")
        let own = try files.router("domains.userDefaults=memory")
        try await flag.set("v", for: key)
        try await own.set("own", for: key)
        try files.set("domains.userDefaults", "file")
        for program in [flag, code] {
            let error = await #expect(throws: StorageError.self) { try await program.get(key) }
            #expect(error?.code == .invalidConfiguration)
            #expect(error?.message.contains("'userDefaults' is served by 'file'") == true, "\(error as Any)")
            await #expect(throws: StorageError.self) { try await program.exists(key) }
        }
        // The files never said that this one's store serves the domain.
        #expect(try await own.get(key) == "own")
        try files.set("domains.userDefaults", "one")
        #expect(try await flag.get(key) == "v")
        #expect(try await code.get(key) == "v")
    }

    @Test("a watch goes over to the store that serves its key or domain now", .timeLimit(.minutes(1)))
    func watches() async throws {
        let files = try Files()
        defer { files.fixture.remove() }
        let (program, other) = (try files.router(), try files.router("domains.userDefaults=one"))
        try await program.set("a", for: key)
        try await other.set("b", for: key)
        var values = try await program.changes(of: key).makeAsyncIterator()
        var names = try await program.changes(in: .userDefaults()).makeAsyncIterator()
        var scopes = try await program.changes(in: .domain("userDefaults")).changes.makeAsyncIterator()
        try files.set("domains.userDefaults", "one")
        #expect(try await values.next() == "b")
        #expect(try await names.next()?.mayBeMore == true)
        #expect(try await scopes.next()?.first?.changed.mayBeMore == true)
        try await other.set("c", for: key)
        #expect(try await values.next() == "c")
        #expect(try await names.next()?.names == ["k"])
        #expect(try await scopes.next()?.first?.changed.names == ["k"])
    }

    @Test("what other programs of the user change is read again, and the open stores and what was set in code stay")
    func unrelated() async throws {
        let files = try Files()
        defer { files.fixture.remove() }
        let program = try files.router()
        try await program.configure("domains.sessions", "memory")
        let session = textKey("s", .custom(name: "sessions"))
        try await program.set("only in memory", for: session)
        for number in 0..<3 {
            ConfigurationPage.ofUser.note("/nobody's file \(number)")
            #expect(try await program.get(session) == "only in memory")
        }
        try files.set("app.version", "1.2.3")
        #expect(try await program.get(session) == "only in memory")
    }

    @Test("a page of memory that others could have made is not used, and a number of the program's own is")
    func foreignPage() throws {
        let folder = try TemporaryFolder.make(named: "localdata-page")
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = "\(folder)/localdata-\(geteuid())"
        let (first, second) = (ConfigurationPage(SharedPage(in: folder)), ConfigurationPage(SharedPage(in: folder)))
        first.note("/a")
        #expect(first.number == 1 && second.number == 1)
        // The same state of a file is not counted again by another program that sees it. One that changes the file
        // counts it: the other may not have yet.
        second.noteSeen("/a")
        #expect(first.number == 1)
        second.note("/a")
        #expect(first.number == 2)
        second.noteSeen("/b")
        #expect(first.number == 3)
        let makers: [() throws -> Void] = [
            { try #require(chmod(path, 0o666) == 0) },
            { try #require(unlink(path) == 0 && mkfifo(path, 0o600) == 0) },
            { try #require(unlink(path) == 0 && symlink("/dev/null", path) == 0) },
            { try #require(unlink(path) == 0 && mkdir(path, 0o700) == 0) },
        ]
        for make in makers {
            try make()
            let own = ConfigurationPage(SharedPage(in: folder))
            own.note("/b")
            #expect(own.number == 1 && first.number == 3)
        }
        let missing = ConfigurationPage(SharedPage(in: "\(folder)/none"))
        missing.note("/c")
        #expect(missing.number == 1)
    }
}
