import FoundationEssentials
import LocalDataAPI
import TestSupport
import Testing

@testable import HostTransfer
@testable import LocalDataHost

@Suite("Values that cannot be read, in sync", .timeLimit(.minutes(2))) struct UnreadableValuesTests {
    private let secret: StorageKey<String> = MigrationHome.synced("secret", .encryptedFileSystem())
    private let note: StorageKey<String> = MigrationHome.synced("note")

    /// The file of the secret on the first device.
    private func file(_ homes: SyncHomes) throws -> String {
        let name = try #require(homes.homes[0].files.keys.first { $0.hasSuffix("secret") })
        return "\(homes.homes[0].home.folder)/data/\(name)"
    }

    @Test("one that is damaged keeps no other value from the devices, is named, and takes part when it is repaired")
    func damaged() async throws {
        let homes = try SyncHomes()
        let (first, second) = try await homes.pair([.key(secret), .key(note)])
        try await first.set("hidden", for: secret)
        for router in [first, second] { try await router.sync() }
        #expect(try await second.get(secret) == "hidden")

        let path = try file(homes)
        let whole = try Data(contentsOf: URL(fileURLWithPath: path))
        try (whole.dropLast(4) + Data("oops".utf8)).write(to: URL(fileURLWithPath: path))
        try await first.set("plain", for: note)
        try await second.set("changed", for: secret)
        try await second.sync()
        let report = try await first.sync()
        #expect(report.leftOut.map(\.address) == ["encryptedFileSystem:documents/secret"])
        #expect(report.leftOut.first?.reason.contains("secret") == true, "\(report.leftOut)")
        #expect(try await first.syncGroup.report().leftOut == report.leftOut)
        try await second.sync()
        #expect(try await second.get(note) == "plain")
        // To the others it is not removed.
        #expect(try await second.get(secret) == "changed")
        // A process that starts finds the same.
        let later = try await homes.router(0, [.key(secret), .key(note)])
        #expect(try await later.sync().leftOut == report.leftOut)

        // What another device has set meanwhile was kept aside, and is taken over now.
        try whole.write(to: URL(fileURLWithPath: path))
        for router in [first, later] { #expect(try await router.sync().leftOut.isEmpty) }
        #expect(try await first.get(secret) == "changed")
        try await first.set("last", for: secret)
        for router in [first, second] { try await router.sync() }
        #expect(try await second.get(secret) == "last")
    }

    @Test("a program that syncs all the time goes on without them, and takes them in when they are set again")
    func continuous() async throws {
        let homes = try SyncHomes()
        let (first, second) = try await homes.pair([.key(secret), .key(note)])
        try await first.set("hidden", for: secret)
        for router in [first, second] { try await router.sync() }
        try Data("no envelope".utf8).write(to: URL(fileURLWithPath: try file(homes)))
        let running = try await homes.router(0, [.key(secret), .key(note)])
        let (reports, report) = AsyncStream<Result<SyncReport, StorageError>>.makeStream()
        let syncing = Task { try await running.syncContinuously { report.yield($0) } }
        for await result in reports {
            if try result.get().leftOut.count == 1 { break }
        }
        try await running.set("plain", for: note)
        while (try? await second.get(note)) != "plain" { try await second.sync() }
        try await running.set("again", for: secret)
        try await second.set("news", for: note)
        while (try? await second.get(secret)) != "again" { try await second.sync() }
        syncing.cancel()
        _ = await syncing.result
    }
}
