import FoundationEssentials
import Glibc
import LocalDataAPI
import LocalDataHost
import TestSupport
import Testing

@Suite("A program that sets properties and ends", .timeLimit(.minutes(5)))
struct ExitingProgramTests {
    /// Many, so that not all of them are written before the program ends.
    private static let names = (0..<100).map { "property\($0)" }

    private static func key(_ name: String, _ domain: StorageDomain = .fileSystem()) -> StorageKey<Int> {
        StorageKey(name: name, domain: domain, security: .none, owner: "tests", description: "a key for tests")
    }

    private static func router(_ path: String) throws -> StorageRouter {
        StorageRouter(
            configuration: try HostConfiguration(
                text: """
                    { domains: { fileSystem: "file", userDefaults: "file" }, log: { level: "warning" },
                      directories: { config: "\(path)/config", data: "\(path)/data", state: "\(path)/state" } }
                    """))
    }

    private static func setAll(_ path: String) throws -> [Stored<Int>] {
        let router = try router(path)
        let properties = names.map { Stored(wrappedValue: 0, key($0), router: router) }
        for (index, property) in properties.enumerated() { property.wrappedValue = index + 1 }
        return properties
    }

    private func requireAll(_ path: String) async throws {
        let router = try Self.router(path)
        for (index, name) in Self.names.enumerated() {
            #expect(try await router.value(of: Self.key(name)) == index + 1)
        }
    }

    @Test("has stored them all when it has returned from main")
    func returns() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path
        await #expect(processExitsWith: .success) { [path = path as String] in _ = try Self.setAll(path) }
        try await requireAll(path)
    }

    @Test("has stored them all when it has called exit, also if every thread of Swift's pool waits for ever")
    func exits() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path
        await #expect(processExitsWith: .exitCode(7)) { [path = path as String] in
            let properties = try Self.setAll(path)
            for _ in 0..<256 { Task.detached { while true { pause() } } }
            withExtendedLifetime(properties) { exit(7) }
        }
        try await requireAll(path)
    }

    @Test("logs what could not be stored, by name and with the reason")
    func fails() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            [path = path as String] in
            let router = try Self.router(path)
            let property = Stored(wrappedValue: 0, Self.key("lost", .custom(name: "nowhere")), router: router)
            property.wrappedValue = 1
            withExtendedLifetime(property) { exit(0) }
        }
        let errors = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(errors.contains("'nowhere/lost' was set and is not stored: no store is mapped to the domain 'nowhere'"))
    }

    @Test("is ended by a signal at once")
    func isKilled() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path
        await #expect(processExitsWith: .signal(SIGTERM)) { [path = path as String] in
            let properties = try Self.setAll(path)
            // The process that runs the tests may have blocked or ignored it.
            var signals = sigset_t()
            sigemptyset(&signals)
            sigaddset(&signals, SIGTERM)
            pthread_sigmask(SIG_UNBLOCK, &signals, nil)
            signal(SIGTERM, SIG_DFL)
            withExtendedLifetime(properties) { _ = raise(SIGTERM) }
        }
    }
}
