import FoundationEssentials
import LocalDataAPI
import LocalDataHost
import LocalDataTesting
import Synchronization
import Testing

@Suite("large values in migrations") struct LargeMigrationTests {
    private static let size = 24 << 20

    /// A store that reads and writes at most a mebibyte at once.
    private final class PiecesStore: InMemoryStore, @unchecked Sendable {
        private func check(_ size: Int) throws {
            guard size <= 1 << 20 else { throw StorageError(.valueTooLarge, "\(size) bytes at once") }
        }

        override func get(_ key: StorageAddress, _ deliver: (RawSpan) -> Void) throws -> Bool {
            var size = 0
            guard try super.get(key, { size = $0.byteCount }) else { return false }
            try check(size)
            return try super.get(key, deliver)
        }

        override func set(_ key: StorageAddress, to value: RawSpan, attributes: ValueAttributes?) throws {
            try check(value.byteCount)
            try super.set(key, to: value, attributes: attributes)
        }
    }

    private func key(_ name: String, _ domain: StorageDomain) -> StorageKey<Data> {
        StorageKey(
            name: name, domain: domain, security: .none, serializer: .data, owner: "Tests",
            description: "A key of these tests.")
    }

    /// Bytes that encode the number of their mebibyte.
    private func fill(_ router: StorageRouter, _ key: StorageKey<Data>) async throws {
        let done = Mutex(0)
        try await router.writePieces(for: .key(key)) { buffer in
            done.withLock { done in
                let count = min(buffer.count, Self.size - done)
                for index in 0..<count { buffer[index] = UInt8(truncatingIfNeeded: (done + index) >> 20) }
                done += count
                return count
            }
        }
    }

    private func isWhole(_ router: StorageRouter, _ key: StorageKey<Data>) async throws -> Bool {
        let done = Mutex(0)
        let isThere = try await router.readPieces(for: .key(key)) { piece in
            done.withLock { done in
                for byte in piece {
                    guard byte == UInt8(truncatingIfNeeded: done >> 20) else { return false }
                    done += 1
                }
                return true
            }
        }
        return isThere && done.withLock { $0 } == Self.size
    }

    @Test("seed defect 19: neither a migration nor its rollback reads a large value from a store as a whole")
    func pieces() async throws {
        let router = try await StorageRouter.serving(PiecesStore())
        let (old, new) = (key("old", .fileSystem()), key("new", .userDefaults()))
        try await router.registerMigration(SimpleLegacyMigration(destinationKey: new, sourceKey: .key(old)))
        try await fill(router, old)
        await #expect(throws: StorageError.valueTooLarge) { try await router.get(old) }
        #expect(try await router.migrate().entries.map(\.outcome) == [.migrated])
        #expect(try await isWhole(router, new))
        #expect(try await !router.exists(old))
        try await router.migrations.rollback(of: new)
        #expect(try await isWhole(router, old))
    }
}
