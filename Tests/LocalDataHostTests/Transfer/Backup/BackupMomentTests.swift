import ByteCoding
import Foundation
import LocalDataAPI
import TestSupport
import Testing

@testable import HostStores
@testable import HostTransfer
@testable import LocalDataHost

@Suite("a backup while batches change its values", .timeLimit(.minutes(TestRun.isTorture ? 60 : 4)))
struct BackupMomentTests {
    private static let stores = [
        #"{ component: "file", options: { root: "${data}/batches" } }"#,
        #"{ component: "sqlite", options: { path: "${data}/batches.sqlite" } }"#,
        #"{ component: "file", options: { root: "${data}/batches" }, sealing: { source: "keyFile" } }"#,
        "postgresql",
    ]

    /// A configuration whose domains `userDefaults` and `own` are in one store.
    private static func router(_ home: SealedHome, _ store: String) throws -> StorageRouter {
        var store = store
        if store == "postgresql" {
            let uri = try PostgreSQLServer.shared.get().uri("localdata", "?sslmode=disable")
            let schema = "moment_\(StableHash.text([home.folder]))"
            store = #"{ component: "postgresql", options: { uri: "\#(uri)", schema: "\#(schema)" } }"#
        }
        return try home.router(
            domains: #"userDefaults: "batches", own: "batches""#, "stores: { batches: \(store) }")
    }

    @Test("no backup has half of a batch of one store, over any of its domains", arguments: stores)
    func torn(_ store: String) async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try Self.router(home, store)
        // The first and the last value in the order of the file, with many between them.
        let keys = [
            textKey("a", .custom(name: "own")), textKey("zz", .custom(name: "own")), textKey("a", .userDefaults()),
            textKey("zz", .userDefaults()),
        ]
        var filler = StorageBatch()
        for number in 0..<400 {
            try filler.set("filler", for: textKey("k\(number)", .userDefaults()))
            try filler.set("filler", for: textKey("k\(number)", .custom(name: "own")))
        }
        try await router.apply(filler)
        @Sendable func write(_ number: Int) async throws {
            var batch = StorageBatch()
            for key in keys { try batch.set("\(number)", for: key) }
            try await router.apply(batch)
        }
        try await write(0)
        let (counted, isOver) = (Counter(), MutexBox(false))
        let other = try Self.router(home, store)
        let writer = Task {
            var number = 0
            while !isOver.withLock({ $0 }) {
                number += 1
                try await write(number)
                counted.add()
            }
        }
        for round in 0..<(TestRun.isTorture ? 100 : 6) {
            let path = "\(home.folder)/backup"
            let before = counted.value
            let report = try await other.backUp(path)
            #expect(report.failures.isEmpty && report.values == 804, "\(report)")
            let backup = try await CraftedBackup(path, other)
            let numbers = Set(
                backup.records.filter { ["a", "zz"].contains($0.item.name) }
                    .map { String(decoding: $0.bytes, as: UTF8.self) })
            #expect(numbers.count == 1, "round \(round): \(numbers.sorted())")
            // Batches go on once the backup is written.
            while counted.value == before { await Task.yield() }
        }
        isOver.withLock { $0 = true }
        try await writer.value
    }

    @Test("a frozen store shows its values, and changes none", arguments: stores)
    func frozen(_ store: String) async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try Self.router(home, store)
        let key = textKey("frozen", .userDefaults())
        try await router.set("before", for: key)
        let slot = try await router.snapshot().slot(for: "userDefaults")
        let place = try await router.snapshot().settings.place(of: .userDefaults())
        do {
            let frozen = try slot.openFrozen()
            try #require(frozen !== slot.current)
            do {
                let value = try frozen.value(at: StorageAddress(place, name: "frozen"))
                #expect(try value.get() == Data("\"before\"".utf8))
                #expect(try value.attributes()?.serializer == "json")
                let errors = [
                    #expect(throws: StorageError.self) { try value.set(Data(), attributes: nil) },
                    #expect(throws: StorageError.self) { try value.remove() },
                ]
                #expect(
                    errors.allSatisfy { $0?.code == .unsupported && $0?.hint.contains("frozen") == true }, "\(errors)")
                // A single change is not held up.
                try await router.set("after", for: key)
                #expect(try await router.get(key) == "after")
                if !store.contains("\"file\"") { #expect(try value.get() == Data("\"before\"".utf8)) }
            }
            frozen.store.close()
        }
        try await router.remove(key)
    }
}
