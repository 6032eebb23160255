import LocalDataAPI
import Testing

@testable import HostGround
@testable import HostPlugins
@testable import LocalDataHost

@Suite("The configuration of a sync transport", .waitsForPrograms) struct TransportConfigurationTests {
    private func withFixture(_ text: String, _ body: (HostConfiguration) async throws -> Void) async throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        _ = try fixture.build(variant: [], as: "libHostile.so", source: "hostile.c")
        try await body(fixture.configuration(text))
    }

    @Test("is empty by default, with the limits that the schema documents")
    func defaults() throws {
        let sync = try HostConfiguration().settings().sync
        #expect(sync.transport == nil)
        #expect(sync.maxAutoSyncSize == 100_000)
        #expect(sync.forget == 180)
    }

    @Test("names the component with its options, and is opened once")
    func opens() async throws {
        let text = #"sync: { transport: "hostile-sync", options: { mode: "x" }, maxAutoSyncSize: 7, forget: 3 }"#
        try await withFixture(text) { configuration in
            #expect(configuration.componentProblems().isEmpty)
            let sync = try configuration.settings().sync
            #expect(sync.transport?.component == "hostile-sync")
            #expect(sync.transport?.options == ["mode": .string("x")])
            #expect(sync.transport?.origin.contains("configuration") == true)
            #expect(sync.maxAutoSyncSize == 7 && sync.forget == 3)
            let router = StorageRouter(configuration: configuration)
            let slot = try #require(try await router.snapshot().transport)
            #expect(slot.current == nil)
            let transport = try slot.openIfNeeded()
            #expect(transport.largestRecord == 262_144)
            #expect(try slot.openIfNeeded() === transport)
        }
    }

    @Test(
        "is opened again when another store serves the keychain that holds its secret, and only then",
        arguments: [("keychain:app/broker", false), ("x", true)])
    func remapped(_ option: String, isKept: Bool) async throws {
        let text =
            "sync: { transport: 'hostile-sync', options: { mode: '\(option)' } }, stores: { other: { component: 'memory' } }"
        try await withFixture(text) { configuration in
            let router = StorageRouter(configuration: configuration)
            let before = try #require(try await router.snapshot().transport)
            try await router.configure("sync.maxAutoSyncSize", 7)
            #expect(try await router.snapshot().transport === before)
            try await router.configure("domains.keychain", "other")
            #expect((try await router.snapshot().transport === before) == isKept)
        }
    }

    @Test(
        "is refused with the nearest name",
        arguments: [
            (#"sync: { transport: "hostile-snyc" }"#, "no plugin offers the sync component", "'hostile-sync'"),
            (#"sync: { transport: "hostile-store" }"#, "no plugin offers the sync component", "hostile-sync"),
            (
                #"sync: { transport: "hostile-sync", options: { mod: "x" } }"#, "unknown option 'mod'",
                "did you mean 'mode'?"
            ),
            (#"sync: { transport: "hostile-sync", options: { mode: 3 } }"#, "of the wrong type; expected string", ""),
        ])
    func problems(_ text: String, _ message: String, _ hint: String) async throws {
        try await withFixture(text) { configuration in
            let problem = try #require(configuration.componentProblems().first)
            #expect(problem.path.first == "sync" && problem.message.contains(message), "\(problem)")
            #expect(problem.hint.contains(hint), "\(problem)")
        }
    }

    @Test("that names a transport which cannot be opened is an error that names the transport")
    func fails() async throws {
        try await withFixture(#"sync: { transport: "hostile-sync", options: { mode: "open-few" } }"#) { configuration in
            let router = StorageRouter(configuration: configuration)
            let slot = try #require(try await router.snapshot().transport)
            let error = try #require(throws: StorageError.self) { try slot.openIfNeeded() }
            #expect(error.code == .pluginRefused && error.message.contains("the sync transport 'hostile-sync'"))
            #expect(error.message.contains("expected at least 262144"), "\(error)")
        }
    }
}
