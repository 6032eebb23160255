import FoundationEssentials
import LocalDataAPI
import TestSupport
import Testing

@testable import HostGround
@testable import HostMigration
@testable import HostStores
@testable import LocalDataHost

@Suite("rotating keys under load", .timeLimit(.minutes(3))) struct RotationUnderLoadTests {
    /// The changes that one writer has made to its keys; each key has one writer.
    private final class Ledger: Sendable {
        let keys: [StorageKey<String>]
        private let last = MutexBox<[String: String?]>([:])

        init(_ writer: Int, _ domains: [StorageDomain]) {
            keys = domains.indices.map {
                textKey("w\(writer) \($0)", domains[$0], security: $0 == 0 ? .encrypted(.aes256()) : .recommended)
            }
        }

        func set(_ value: String?, _ name: String) { last.withLock { $0[name] = .some(value) } }
        var state: [String: String?] { last.withLock { $0 } }
    }

    private static let domains: [StorageDomain] = [
        .userDefaults(), .encryptedFileSystem(), .keychain(service: "s"), .appGroupFileSystem(id: "g"),
    ]

    @Test("no update is lost, no removed value comes back, and nothing is sealed under a key that was retired")
    func hammer() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let writers = try (0..<6).map { (try home.router(), Ledger($0, Self.domains)) }
        let ended = Counter()
        let (retired, written) = (Counter(), Counter())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (router, ledger) in writers {
                group.addTask(executorPreference: IOExecutor.shared) {
                    var round = 0
                    while ended.value == 0, !Task.isCancelled {
                        round += 1
                        let key = ledger.keys[round % ledger.keys.count]
                        if round % 7 == 6 {
                            try await router.remove(key)
                            ledger.set(nil, key.name)
                        } else {
                            try await router.set("\(key.name) \(round)", for: key)
                            ledger.set("\(key.name) \(round)", key.name)
                        }
                        written.add()
                        // Only this writer changes the key, so it must read its own last value, even after a
                        // re-encryption.
                        let found = try await router.exists(key) ? try await router.get(key) : nil
                        #expect(found == ledger.state[key.name] ?? nil, "round \(round)")
                        await Task.yield()
                    }
                }
            }
            let keeper = try home.router()
            let end = SuspendingClock.now + .seconds(2)
            while SuspendingClock.now < end || retired.value < 3 || written.value < 50 {
                for name in [KeyRingName.master, .store("sealed-files")] {
                    try await keeper.keys.rotate(of: name)
                    #expect(try await keeper.keys.reseal(name).failures.isEmpty)
                    for key in try await keeper.keys.list(of: name) where key.state != "active" {
                        // Everything was re-encrypted: a value that a writer sealed with the old key would block this.
                        try await keeper.keys.retire(key.id, of: name)
                        retired.add()
                    }
                }
            }
            ended.add()
            try await group.waitForAll()
        }
        let reader = try home.router()
        for (_, ledger) in writers {
            for key in ledger.keys {
                let last = ledger.state[key.name] ?? nil
                #expect(try await reader.exists(key) == (last != nil))
                if let last { #expect(try await reader.get(key) == last) }
            }
        }
        #expect(try await reader.keys.list(counting: true).count == 1)
    }

    @Test("a location where the first value is being sealed does not look as if its disk were not mounted")
    func firstValues() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let writer = try home.router()
        try await writer.set("x", for: textKey("k", security: .recommended))
        let ended = Counter()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask(executorPreference: IOExecutor.shared) {
                defer { ended.add() }
                for number in 0..<100 {
                    let key = textKey("k", .appGroupFileSystem(id: "g\(number)"), security: .recommended)
                    try await writer.set("x", for: key)
                }
            }
            let keeper = try home.router()
            while ended.value == 0 {
                try await keeper.keys.rotate()
                #expect(try await keeper.keys.reseal().failures.isEmpty)
                for key in try await keeper.keys.list() where key.state != "active" {
                    try await keeper.keys.retire(key.id)
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("two concurrent rotations and reseals leave one active key, and everything readable")
    func twoKeepers() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try home.router()
        let keys = (0..<20).map { textKey("k\($0)", security: .recommended) }
        for key in keys { try await router.set(key.name, for: key) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<3 {
                group.addTask(executorPreference: IOExecutor.shared) {
                    let keeper = try home.router()
                    for _ in 0..<4 {
                        try await keeper.keys.rotate()
                        // One reseal runs at a time: the second caller gets an error.
                        do { #expect(try await keeper.keys.reseal().failures.isEmpty) } catch StorageError.busy {}
                    }
                }
            }
            try await group.waitForAll()
        }
        for reader in [router, try home.router()] {
            for key in keys { #expect(try await reader.get(key) == key.name) }
        }
        let described = try await router.keys.list(counting: true)
        #expect(described.count == 13 && described.count { $0.state == "active" } == 1)
        #expect(described.compactMap(\.values).reduce(0, +) == 20)
    }
}
