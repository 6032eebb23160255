import FoundationEssentials
import LocalDataAPI
import Synchronization
import TestSupport
import Testing

@testable import LocalDataHost

@Suite("Values that two disconnected devices change, and whose key merges them", .timeLimit(.minutes(3)))
struct MergedValuesTests {
    private struct Unmergeable: Error {}

    private static func key(
        _ domain: StorageDomain = .custom(name: "rows"),
        by merge: @escaping @Sendable ([String], [String]) throws -> [String]
    ) -> StorageKey<[String]> {
        let plain: StorageKey<[String]> = MigrationHome.key("tags", domain)
        return StorageKey(
            name: "tags", domain: domain, security: plain.security, owner: "tests", description: "tags",
            syncPolicy: .automaticSmall, merge: merge)
    }

    private static func union(_ earlier: [String], _ later: [String]) -> [String] {
        Set(earlier).union(later).sorted()
    }

    /// Makes two devices change a value while disconnected, and then sync.
    private func meet(
        _ homes: SyncHomes, _ first: AnyStorageKey, _ second: AnyStorageKey, _ key: StorageKey<[String]>
    ) async throws -> [StorageRouter] {
        let routers = [try await homes.router(0, [first]), try await homes.router(1, [second])]
        try await routers[0].syncGroup.create(named: "first")
        try await routers[0].set(["both"], for: key)
        try await routers[1].syncGroup.join(try await routers[0].syncGroup.invite().code, named: "second")
        for router in routers { try await router.sync() }
        try await routers[0].set(["both", "first"], for: key)
        try await routers[1].set(["both", "second"], for: key)
        for index in [0, 1, 0, 1, 0, 1] { try await routers[index].sync() }
        for router in routers { #expect(try await router.sync().changed.isEmpty) }
        return routers
    }

    @Test("contain both changes on both devices, and nothing is put aside", arguments: MigrationHome.domains)
    func typed(domain: StorageDomain) async throws {
        let homes = try SyncHomes()
        let calls = Mutex<[[[String]]]>([])
        let key = Self.key(domain) { earlier, later in
            calls.withLock { $0.append([earlier, later]) }
            return Self.union(earlier, later)
        }
        for router in try await meet(homes, .key(key), .key(key), key) {
            #expect(try await router.get(key) == ["both", "first", "second"])
            #expect(try await router.syncGroup.conflicts().values.isEmpty)
        }
        // The earlier one comes first, whichever device merges.
        #expect(calls.withLock { $0 }.allSatisfy { $0 == [["both", "first"], ["both", "second"]] })
        #expect(!calls.withLock { $0.isEmpty })
    }

    @Test("can have a key without a type")
    func untyped() async throws {
        let homes = try SyncHomes()
        let key = Self.key(by: Self.union)
        let untyped = AnyStorageKey(StorageKeyDescriptor.from(key)) { earlier, later in
            let coder = Serializer<[String]>.json
            return try coder.encode(Self.union(try coder.decode(earlier), try coder.decode(later)))
        }
        for router in try await meet(homes, untyped, untyped, key) {
            #expect(try await router.get(key) == ["both", "first", "second"])
        }
    }

    @Test("become the later one if merging fails, and the other one is kept and readable")
    func failing() async throws {
        let homes = try SyncHomes()
        let key = Self.key { _, _ in throw Unmergeable() }
        var lost: [Data] = []
        for router in try await meet(homes, .key(key), .key(key), key) {
            #expect(try await router.get(key) == ["both", "second"])
            for value in try await router.syncGroup.conflicts().values {
                lost.append(try await router.syncGroup.conflict(String(value.id.dropLast())).data)
            }
            await #expect(throws: StorageError.notFound) { try await router.syncGroup.conflict("nothing") }
        }
        let expected = try Serializer<[String]>.json.encode(["both", "first"])
        #expect(!lost.isEmpty && lost.allSatisfy { $0 == expected })
    }

    @Test("are the same everywhere, also if one device's software cannot merge")
    func mixed() async throws {
        let homes = try SyncHomes()
        let (key, plain) = (Self.key(by: Self.union), Self.key(by: Self.union))
        let routers = try await meet(homes, .key(key), AnyStorageKey(StorageKeyDescriptor.from(plain)), key)
        let values = [try await routers[0].get(key), try await routers[1].get(plain)]
        #expect(values[0] == values[1] && values[0].contains("second"))
    }
}
