import FoundationEssentials
import Glibc
import LocalDataAPI
import Testing

@testable import HostGround
@testable import HostPlugins
@testable import LocalDataHost

/// `ld-host` with a plugin that ends the process, does not return, or uses what belongs to the program.
@Suite("The program with a hostile plugin") struct HostileProgramTests {
    private static let plugin = "the component 'hostile-store' of plugin '"

    /// Runs `ld-host` over the fixture, with a mode.
    private func run(
        _ mode: String, _ arguments: String..., delay: String = "\(Int32.max)", deadline: Duration = .seconds(60)
    ) throws -> ChildProcess.Completion {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        _ = try fixture.write(Data(contentsOf: URL(filePath: HostilePluginTests.shared.get())), to: "libHostile.so")
        return try ChildProcess(
            try FixtureBuilder.host,
            arguments: [
                "-c", "stores.h.component=hostile-store", "-c", "stores.h.options.mode=\(mode)",
                "-c", "domains.userDefaults=h",
            ] + arguments,
            environment: [
                "HOME": fixture.folder, "PATH": "/usr/bin:/bin", "LOCALDATA_PLUGIN_PATH": fixture.folder,
                "XDG_DATA_HOME": "\(fixture.folder)/data", "XDG_CONFIG_HOME": "\(fixture.folder)/config",
                "XDG_CACHE_HOME": "\(fixture.folder)/cache", "XDG_STATE_HOME": "\(fixture.folder)/state",
                "LOCALDATA_PROGRESS_DELAY": delay,
            ]
        ).run(deadline: deadline)
    }

    @Test("a plugin that ends the process in a call does not pass for one that returned an empty value")
    func exits() throws {
        let ended = try run("read=exit", "get", "userDefaults/name")
        #expect(ended.outcome == .exited(code: 2) && ended.output.isEmpty)
        #expect(
            ended.errorText.contains("libHostile.so") && ended.errorText.contains("ended the process in streaming read")
        )
        let other = try run("read=exit3", "get", "userDefaults/name")
        #expect(other.outcome == .exited(code: 3))
        #expect(other.errorText.contains("ended the process in streaming read"))
    }

    @Test("only a fault in the plugin's own code ends the program by a signal")
    func faults() throws {
        for mode in ["read:max", "read:null", "read:beyond", "read=7"] {
            let end = try run(mode, "get", "userDefaults/name")
            #expect(end.outcome == .exited(code: 2), "\(mode): \(end.outcome) \(end.errorText)")
            // A stream is printed as it arrives, so the piece before the broken one appears.
            #expect(String(decoding: end.output, as: UTF8.self) == (mode == "read=7" ? "" : "one"), "\(mode)")
        }
    }

    @Test(
        "a fatal signal is named with component, file and function",
        arguments: [
            ("read=fault", "streaming read", "11 (SIGSEGV)"), ("read=overflow", "streaming read", "11 (SIGSEGV)"),
            ("resolve=overflow", "resolve", "11 (SIGSEGV)"), ("read=abort", "streaming read", "6 (SIGABRT)"),
            ("read=trap", "streaming read", "5 (SIGTRAP)"),
        ])
    func signals(_ mode: String, _ function: String, _ signal: String) throws {
        let end = try run(mode, "get", "userDefaults/name")
        let numbers = ["11 (SIGSEGV)": SIGSEGV, "6 (SIGABRT)": SIGABRT, "5 (SIGTRAP)": SIGTRAP]
        let number = try #require(numbers[signal])
        #expect(end.outcome == .signalled(number, name: String(signal.split(separator: " ")[1].dropFirst().dropLast())))
        #expect(end.output.isEmpty)
        let lines = end.errorText.split(separator: "\n")
        #expect(lines.count == 1)
        #expect(lines[0].hasPrefix("ld-host: error: \(Self.plugin)/"))
        #expect(lines[0].hasSuffix("/libHostile.so' ended the process in \(function), with signal \(signal)"))
    }

    @Test("an app learns it, too")
    func apps() async throws {
        let path = try HostilePluginTests.shared.get()
        let ended = await #expect(processExitsWith: .signal(SIGSEGV), observing: [\.standardErrorContent]) {
            [path = path as String] in
            try Self.get(path, "get=fault")
        }
        let said = String(decoding: try #require(ended).standardErrorContent, as: UTF8.self)
        #expect(said.contains("LocalData: error: \(Self.plugin)"))
        #expect(said.contains("' ended the process in get, with signal 11 (SIGSEGV)"))
    }

    @Test("an app's own handler of a signal is called after that")
    func ownHandlers() async throws {
        let path = try HostilePluginTests.shared.get()
        let ended = await #expect(processExitsWith: .exitCode(7), observing: [\.standardErrorContent]) {
            [path = path as String] in
            signal(SIGSEGV) { _ in _exit(7) }
            try Self.get(path, "get=fault")
        }
        let said = String(decoding: try #require(ended).standardErrorContent, as: UTF8.self)
        #expect(said.contains("' ended the process in get, with signal 11 (SIGSEGV)"))
    }

    private static func get(_ path: String, _ mode: String) throws {
        let store = try PluginImage.load(path).openStore(
            "hostile-store", options: try #require(ResolvedOptions(["mode": .string(mode)])),
            host: HostTable.shared(for: SilentLog()))
        let handle = try store.resolve(StorageAddress(StorageNamespace(domain: "userDefaults"), name: "name"))
        _ = try store.get(handle)
    }

    @Test("what a plugin prints does not mix with a value")
    func printing() throws {
        let end = try run("resolve=print", "get", "userDefaults/name")
        #expect(end.outcome == .exited(code: 0))
        #expect(String(decoding: end.output, as: UTF8.self) == "onetwo")
        #expect(end.errorText == "printed\n")
    }

    @Test("a plugin whose connection is closed ends nothing")
    func closedConnections() throws {
        let end = try run("resolve=sigpipe", "get", "userDefaults/name")
        #expect(end.outcome == .exited(code: 0), "\(end.outcome) \(end.errorText)")
        #expect(String(decoding: end.output, as: UTF8.self) == "onetwo")
    }

    @Test("a process that a plugin forks is not taken for the program")
    func forks() throws {
        let end = try run("resolve=fork", "get", "userDefaults/name")
        #expect(end.outcome == .exited(code: 0), "\(end.outcome) \(end.errorText)")
        #expect(String(decoding: end.output, as: UTF8.self) == "onetwo")
        #expect(end.errorText.isEmpty, "\(end.errorText)")
    }

    @Test("a call that does not return is named while it lasts")
    func hanging() throws {
        let end = try run("exists=hang", "exists", "userDefaults/name", delay: "1", deadline: .seconds(12))
        #expect(end.outcome == .timedOut(after: .seconds(12)))
        let lines = end.errorText.split(separator: "\n")
        #expect(lines.count >= 2 && lines.allSatisfy { $0.hasPrefix("ld-host: \(Self.plugin)") })
        #expect(lines.allSatisfy { $0.contains("libHostile.so' has not returned from exists for ") })
    }

    @Test("doctor outlives it, and reports it with the rest", arguments: ["fault", "abort", "exit", "overflow"])
    func doctor(_ how: String) throws {
        let end = try run("check=\(how)", "doctor")
        #expect(end.outcome == .exited(code: 2), "\(end.outcome) \(end.errorText)")
        let text = String(decoding: end.output, as: UTF8.self)
        let problems = text.split(separator: "\n").filter { $0.hasPrefix("!!") }
        #expect(problems.count == 1, "\(problems)")
        #expect(problems.first?.contains(Self.plugin) == true)
        #expect(problems.first?.contains("libHostile.so' ended the process in check, with s") == true)
        #expect(text.contains("ok  the configuration is valid"))
        #expect(end.errorText.isEmpty, "\(end.errorText)")
    }
}
