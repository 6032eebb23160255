import FoundationEssentials
import LocalDataAPI
import TestSupport
import Testing

@testable import LocalDataHost

/// Devices with separate homes, and the folder that they share.
final class SyncHomes: Sendable {
    let shared: TemporaryFolder
    let homes: [MigrationHome]

    init(_ count: Int = 2) throws {
        shared = try TemporaryFolder()
        homes = try (0..<count).map { _ in try MigrationHome() }
    }

    deinit { homes.forEach { $0.remove() } }

    /// A router of a device that shares only the home with the device's other routers, like a separate process.
    ///
    /// - Parameter folder: The shared folder; `nil` for that of all devices.
    func router(
        _ index: Int, _ keys: [AnyStorageKey], _ text: String = "", in folder: String? = nil
    ) async throws -> StorageRouter {
        let router = try homes[index].router(
            """
            \(text)
            sync: { transport: "folder", options: { folder: "\(folder ?? shared.path)", poll: 1 } }
            """)
        if !keys.isEmpty { try await router.registerCatalog(Keys(allKeys: keys)) }
        return router
    }

    /// Routers of two devices in one group.
    func pair(
        _ keys: [AnyStorageKey], _ text: String = ""
    ) async throws -> (first: StorageRouter, second: StorageRouter) {
        let (first, second) = (try await router(0, keys, text), try await router(1, keys, text))
        try await first.syncGroup.create(named: "first")
        try await second.syncGroup.join(try await first.syncGroup.invite().code, named: "second")
        try await first.sync()
        return (first, second)
    }

    struct Keys: StorageKeyCatalog {
        let allKeys: [AnyStorageKey]
    }
}

extension MigrationHome {
    /// A key with a sync policy, whose protection fits its domain.
    static func synced<Value>(
        _ name: String, _ domain: StorageDomain = .userDefaults(), _ policy: SyncPolicy = .automaticSmall,
        as type: Value.Type = String.self
    ) -> StorageKey<Value> {
        let plain: StorageKey<Value> = key(name, domain)
        return StorageKey(
            name: name, domain: domain, security: plain.security, serializer: plain.serializer, owner: "tests",
            description: "a key for tests", syncPolicy: policy)
    }
}
