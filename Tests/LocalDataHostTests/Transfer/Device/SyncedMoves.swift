import LocalDataAPI
import Testing

@testable import LocalDataHost

/// Where release 1 of an app has a key, and where release 2 has it.
struct KeyMove: CustomTestStringConvertible, Sendable {
    var first = StorageDomain.userDefaults()
    var second = StorageDomain.fileSystem()

    static let all = [
        KeyMove(), KeyMove(first: .custom(name: "rows")),
        KeyMove(first: .fileSystem(), second: .custom(name: "rows")), KeyMove(second: .encryptedFileSystem()),
        KeyMove(first: .fileSystem(), second: .keychain(service: "tests")),
    ]

    var testDescription: String { "\(first) -> \(second)" }
    var old: StorageKey<String> { MigrationHome.synced("theme", first) }
    var new: StorageKey<String> { MigrationHome.synced("theme", second) }
}

extension SyncHomes {
    /// Starts the app on a device.
    func start(_ index: Int, _ key: StorageKey<String>) async throws -> StorageRouter {
        try await router(index, [.key(key)])
    }

    /// Both devices run release 1 and have a value.
    func older(_ move: KeyMove) async throws {
        let (first, second) = try await pair([.key(move.old)])
        try await first.set("one", for: move.old)
        for router in [first, second, first, second] { try await router.sync() }
        #expect(try await second.get(move.old) == "one")
    }

    /// Lets both devices sync until nothing changes any more.
    static func settle(_ routers: StorageRouter...) async throws {
        for _ in 0..<3 { for router in routers { try await router.sync() } }
    }
}
