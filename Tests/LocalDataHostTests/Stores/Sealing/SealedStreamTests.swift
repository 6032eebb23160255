import FoundationEssentials
import Glibc
import LocalDataAPI
import TestSupport
import Testing

@testable import HostStores
@testable import LocalDataHost

@Suite("sealed values in pieces", .timeLimit(.minutes(2))) struct SealedStreamTests {
    private static let chunk = 65_536
    /// Keys with a policy's envelope alone, with a store's alone, and with both.
    static let keys: [AnyStorageKey] = [
        .key(textKey("value", .fileSystem(), security: .recommended)),
        .key(textKey("value", .keychain(service: "s"), security: .keychain(accessibility: .always))),
        .key(textKey("value", .keychain(service: "s"), security: .encrypted(.aes256()))),
    ]

    static func value(_ count: Int, _ seed: UInt8 = 0) -> Data {
        Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ $0 >> 9) &+ seed })
    }

    private func read(
        _ key: AnyStorageKey, _ router: StorageRouter, _ verification: StreamVerification
    ) async throws -> (found: Bool, data: Data) {
        let pieces = Pieces()
        let found = try await router.readPieces(for: key, verifying: verification) {
            pieces.add($0)
            return true
        }
        return (found, pieces.data)
    }

    @Test("an app writes and reads pieces as spans", arguments: [SecurityPolicy.none, .recommended])
    func spans(_ security: SecurityPolicy) async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try home.router()
        let key = AnyStorageKey.key(textKey("pieces", .fileSystem(), security: security))
        let left = MutexBox(600_000)
        try await router.writeData(for: key) { span in
            let room = span.freeCapacity
            let count = left.withLock { left in
                let count = min(left, room)
                left -= count
                return count
            }
            span.append(repeating: UInt8(7), count: count, as: UInt8.self)
        }
        let (read, stored) = (Pieces(), MutexBox(0))
        let isThere = try await router.readData(for: key) { piece in
            piece.withUnsafeBytes { read.add($0) }
            return true
        }
        #expect(isThere && read.data == Data(repeating: 7, count: 600_000))
        let isStored = try await router.readStoredPieces(for: key) { piece in
            let count = piece.count
            stored.withLock { $0 += count }
            return true
        }
        #expect(isStored && stored.withLock { $0 == 600_000 } == (security == .none))
    }

    @Test("a store that keeps the ring is not called while it passes a value that the ring opens")
    func ringInTheStore() async throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let store = StrictStore()
        let key = AnyStorageKey.key(textKey("value", .custom(name: "own")))
        func router(_ number: Int) async throws -> StorageRouter {
            let router = StorageRouter(
                configuration: try fixture.configuration(
                    """
                    domains: { own: "vault" },
                    stores: { vault: { component: "strict", sealing: "keyFile" } }
                    """))
            try await router.registerPlugin(
                named: "strict \(number)",
                Plugin.export("strict \(number)", version: "0", .storage(StrictStore.self) { _, _ in store }))
            return router
        }
        let first = try await router(1)
        try await first.set(String(repeating: "long", count: 100_000), for: textKey("value", .custom(name: "own")))
        for (number, verification) in [StreamVerification.chunks, .whole].enumerated() {
            // Knows no key of the ring yet.
            let later = try await router(2 + number)
            let found = try await read(key, later, verification)
            #expect(found.found && found.data.count >= 400_000)
        }
        #expect(try await router(4).attributes(of: key) != nil)
        #expect(store.misuses == 0)
    }

    @Test(
        "values of every size are written and read in pieces, and whole",
        arguments: keys.indices, [0, 1, 65_535, 65_536, 65_537, 200_000])
    func sizes(_ index: Int, _ count: Int) async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let (key, value) = (Self.keys[index], Self.value(count))
        let router = try home.router()
        let at = MutexBox(0)
        try await router.writePieces(for: key) { buffer in
            at.withLock { at in
                // Pieces of an odd size, whatever the buffer's size.
                let piece = value.dropFirst(at).prefix(min(buffer.count, 1013))
                buffer.copyBytes(from: piece)
                at += piece.count
                return piece.count
            }
        }
        for router in [router, try home.router()] {
            for verification in [StreamVerification.whole, .chunks] {
                let (found, data) = try await read(key, router, verification)
                #expect(found && data == value)
            }
            #expect(try await router.data(for: key) == value)
            #expect(try await router.attributes(of: key)?.size == UInt64(count))
        }
        try await router.setData(value, for: key)
        #expect(try await read(key, router, .whole).data == value)
        try await router.remove(key)
        #expect(try await !read(key, router, .whole).found)
        #expect(try await !read(key, router, .chunks).found)
    }

    @Test(
        "if a value's end was changed or truncated, only verified bytes are passed on",
        arguments: keys.indices)
    func changedEnd(_ index: Int) async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let (key, value) = (Self.keys[index], Self.value(3 * Self.chunk + 100))
        try await home.router().setData(value, for: key)
        let path = try home.valueFile("value")
        let stored = try Data(contentsOf: URL(filePath: path))
        var changed = stored
        changed[stored.count - 1] ^= 1
        for damaged in [changed, stored.dropLast(), stored.prefix(stored.count - 116), stored + Data([0])] {
            try Data(damaged).write(to: URL(filePath: path))
            for router in [try home.router(), try home.router()] {
                let handed = Pieces()
                let whole = try await StorageError.of {
                    try await router.readPieces(for: key) {
                        handed.add($0)
                        return true
                    }
                }
                #expect(whole.code == .cannotOpen && handed.data.isEmpty)
                let chunks = try await StorageError.of {
                    try await router.readPieces(for: key, verifying: .chunks) {
                        handed.add($0)
                        return true
                    }
                }
                #expect(chunks.code == .cannotOpen)
                // Only full chunks from the beginning, unchanged.
                #expect(handed.data.count % Self.chunk == 0 && handed.data.count <= 3 * Self.chunk)
                #expect(handed.data == value.prefix(handed.data.count) && !handed.data.isEmpty)
                await #expect(throws: StorageError.cannotOpen) { try await router.data(for: key) }
            }
        }
    }

    @Test(
        "a reader that stops early does not learn of later damage, unless it verifies the whole value",
        arguments: keys.indices)
    func stopping(_ index: Int) async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try home.router()
        let key = Self.keys[index]
        // With two layers, the inner one's first chunk ends within the outer one's last.
        for count in [1, 65_300, 65_536, 65_537, 131_000] {
            try await router.setData(Self.value(count), for: key)
            for verification in [StreamVerification.whole, .chunks] {
                #expect(try await router.readPieces(for: key, verifying: verification) { _ in false })
            }
            #expect(try await router.attributes(of: key)?.size == UInt64(count))
        }
        try await router.setData(Self.value(3 * Self.chunk), for: key)
        let path = try home.valueFile("value")
        for verification in [StreamVerification.whole, .chunks] {
            let pieces = Counter()
            #expect(
                try await router.readPieces(for: key, verifying: verification) { _ in
                    pieces.add()
                    return false
                })
            #expect(pieces.value == 1)
        }
        var stored = try Data(contentsOf: URL(filePath: path))
        stored[stored.count - 1] ^= 1
        try stored.write(to: URL(filePath: path))
        #expect(try await router.readPieces(for: key, verifying: .chunks) { _ in false })
        await #expect(throws: StorageError.cannotOpen) { try await router.readPieces(for: key) { _ in false } }
    }

    @Test("a value that is replaced while it is read is handed out whole, the old one or the new")
    func replaced() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let key = Self.keys[0]
        let values = (0..<4).map { Self.value(2 * Self.chunk + 17 * $0, UInt8($0)) }
        let (reader, writer) = (try home.router(), try home.router())
        try await writer.setData(values[0], for: key)
        let ended = Counter()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                var round = 0
                while ended.value == 0, !Task.isCancelled {
                    round += 1
                    try await writer.setData(values[round % 4], for: key)
                }
            }
            var seen: Set<Int> = []
            let end = SuspendingClock.now + .seconds(20)
            // Until different values were seen, which takes longer on a slow machine.
            while seen.count < 2 || seen.reduce(0, +) < 3, SuspendingClock.now < end {
                for _ in 0..<10 {
                    do {
                        let (found, data) = try await read(key, reader, .whole)
                        let index = try #require(values.firstIndex(of: data), "\(data.count) bytes of no value")
                        #expect(found)
                        seen.insert(index)
                    } catch let error as StorageError {
                        // The value was replaced sixteen times in a row, so no bytes were passed on.
                        #expect(error.code == .busy && error.message.contains("was replaced each time"))
                    }
                }
            }
            ended.add()
            #expect(seen.count > 1)
            try await group.waitForAll()
        }
    }

    private struct Lost: Error {}

    @Test("a source that fails leaves the old value, or leaves it absent")
    func failingSource() async throws {
        for key in Self.keys {
            let home = try SealedHome()
            defer { home.remove() }
            let router = try home.router()
            for old in [nil, Self.value(100)] as [Data?] {
                if let old { try await router.setData(old, for: key) }
                for failsAt in [0, 1, 3] {
                    let calls = Counter()
                    let error = try await StorageError.of {
                        try await router.writePieces(for: key) { buffer in
                            calls.add()
                            guard calls.value <= failsAt else { throw Lost() }
                            buffer.initializeMemory(as: UInt8.self, repeating: 1)
                            return buffer.count
                        }
                    }
                    #expect(error.code == .cancelled)
                    #expect(try await router.data(for: key) == old)
                }
            }
        }
    }
}
