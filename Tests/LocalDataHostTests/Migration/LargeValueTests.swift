import FoundationEssentials
import Glibc
import LocalDataAPI
import Testing

@testable import LocalDataHost

@Suite("migrations of large values", .timeLimit(.minutes(5)), .serialized) struct LargeValueTests {
    private static let size = 24 << 20

    private func key(
        _ name: String, _ domain: StorageDomain, from source: StorageKey<Data>? = nil,
        _ policy: MigrationConflictPolicy = .keepDestination
    ) -> StorageKey<Data> {
        MigrationHome.key(name, domain, as: .data) { key in
            AnyStorageMigration(
                SimpleLegacyMigration(
                    destinationKey: key, sourceKey: .key(source ?? key), conflictPolicy: policy))
        }
    }

    /// Stores a value of so many varying bytes.
    private func fill(_ router: StorageRouter, _ key: StorageKey<Data>, _ size: Int, seed: UInt8 = 1) async throws {
        let source = Pattern(size: size, seed: seed)
        try await router.writePieces(for: .key(key)) { source.fill($0) }
    }

    private func expect(
        _ router: StorageRouter, _ key: StorageKey<Data>, _ size: Int, seed: UInt8 = 1,
        location: SourceLocation = #_sourceLocation
    ) async throws {
        let pattern = Pattern(size: size, seed: seed)
        let isThere = try await router.readPieces(for: .key(key), verifying: .chunks) { pattern.matches($0) }
        #expect(isThere && pattern.isAtEnd, sourceLocation: location)
    }

    @Test(
        "a large value is moved in pieces, and can be restored",
        arguments: MigrationHome.domains)
    func moving(_ domain: StorageDomain) async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router()
        let target: StorageDomain =
            domain == .encryptedFileSystem() ? .keychain(service: "tests") : .encryptedFileSystem()
        let source: StorageKey<Data> = MigrationHome.key("old", domain, as: .data)
        let new = key("new", target, from: source)
        try await fill(router, source, Self.size)
        #expect(try await router.forceMigration(for: new).outcome == .migrated)
        try await expect(router, new, Self.size)
        #expect(try await !router.exists(source))
        #expect(try await router.forceMigration(for: new).outcome == .nothingToDo)
        try await router.migrations.rollback(of: new)
        try await expect(router, source, Self.size)
        #expect(try await !router.exists(new))
    }

    /// The other changes of a migration that moves a large value.
    enum Besides: CaseIterable {
        case setsAnother, removesAnother, setsTheSource, setsTheDestination
    }

    @Test(
        "a migration that moves a large value and changes something else does all of it, and is undone as one",
        arguments: Besides.allCases)
    func mixed(_ besides: Besides) async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router()
        let source: StorageKey<Data> = MigrationHome.key("old", .fileSystem(), as: .data)
        let note: StorageKey<String> = MigrationHome.key("note", .fileSystem())
        let bytes: StorageKey<Data> = MigrationHome.key("new", .fileSystem(), as: .data)
        let new: StorageKey<String> = MigrationHome.key("new", .fileSystem()) { (key: StorageKey<String>) in
            var migration = ScriptedMigration(destinationKey: key) { transaction, _ in
                let moving = try #require(transaction as? any MovingTransaction)
                #expect(try await moving.move(.key(source), to: .key(key)))
                switch besides {
                case .setsAnother: try await transaction.set("after", for: note)
                case .removesAnother: try await transaction.remove(note)
                case .setsTheSource: try await transaction.set(Data([7]), for: source)
                case .setsTheDestination: try await transaction.set("after", for: key)
                }
                return MigrationResult(success: true)
            }
            migration.condition = { transaction, _ in try await transaction.exists(source) }
            return AnyStorageMigration(migration)
        }
        try await router.set("before", for: note)
        try await fill(router, source, Self.size)
        #expect(try await router.forceMigration(for: new).outcome == .migrated)
        if besides == .setsTheDestination {
            #expect(try await router.get(new) == "after")
        } else {
            try await expect(router, bytes, Self.size)
        }
        #expect(try await router.exists(note) == (besides != .removesAnother))
        #expect(try await router.exists(source) == (besides == .setsTheSource))
        if besides == .setsTheSource { #expect(try await router.get(source) == Data([7])) }
        if besides == .setsAnother { #expect(try await router.get(note) == "after") }
        try await router.migrations.rollback(of: new)
        try await expect(router, source, Self.size)
        #expect(try await router.get(note) == "before")
        #expect(try await !router.exists(bytes))
    }

    @Test("a rollback restores the value that a large one replaced, and conflicts are as for small ones")
    func replacing() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router()
        let source: StorageKey<Data> = MigrationHome.key("old", .fileSystem(), as: .data)
        let new = key("new", .custom(name: "rows"), from: source)
        try await fill(router, source, 3 << 20)
        try await fill(router, new, 2 << 20, seed: 9)
        #expect(try await router.forceMigration(for: new).outcome == .destinationKept)
        #expect(try await router.forceMigration(for: new, onConflict: .takeSource).outcome == .migrated)
        try await expect(router, new, 3 << 20)
        try await router.migrations.rollback(of: new)
        try await expect(router, new, 2 << 20, seed: 9)
        try await expect(router, source, 3 << 20)
    }

    @Test("a large value that did not arrive is not reported as migrated, and the old value stays")
    func interrupted() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        // The destination can hold its current value, but not the new one.
        let small = try home.home.router(
            domains: "fileSystem: \"file\", rows: \"rows\"",
            """
            stores: { rows: { component: "sqlite", options: { path: "${data}/rows.sqlite", largestValue: 2500000 } } }
            """)
        let source: StorageKey<Data> = MigrationHome.key("old", .fileSystem(), as: .data)
        let new = key("new", .custom(name: "rows"), from: source, .takeSource)
        try await fill(small, source, 3 << 20)
        try await fill(small, new, 2 << 20, seed: 9)
        let error = await MigrationError.of { try await small.forceMigration(for: new) }
        #expect(error?.underlying?.code == .valueTooLarge)
        #expect(try await small.migrationHistory(for: new).map(\.state) == [.copying])
        let router = try home.router()
        let entries = try await router.migrations.resume().entries
        #expect(entries.map(\.isDone) == [false] && entries[0].problem?.contains("is not at its destination") == true)
        try await expect(router, new, 2 << 20, seed: 9)
        try await expect(router, source, 3 << 20)
        #expect(try await router.forceMigration(for: new).outcome == .migrated)
        #expect(try await router.migrationHistory(for: new).map(\.state) == [.clean])
        try await expect(router, new, 3 << 20)
        #expect(try await !router.exists(source))
    }

    @Test("large values among small ones are moved one by one, and restored")
    func bulk() async throws {
        for policy in [MigrationConflictPolicy.keepDestination, .takeSource] {
            let home = try MigrationHome()
            defer { home.remove() }
            let router = try home.router()
            let (from, to) = (StorageDomain.fileSystem(), StorageDomain.encryptedFileSystem())
            func data(_ name: String, _ domain: StorageDomain) -> StorageKey<Data> {
                MigrationHome.key(name, domain, as: .data)
            }
            for (index, size) in [10, 2 << 20, 3 << 20, 20, 5 << 20].enumerated() {
                try await fill(router, data("old.\(index)", from), size)
            }
            try await fill(router, data("new.2", to), 2 << 20, seed: 7)
            try await router.registerMigration(BulkMigrationTests.move(from, to, policy))
            #expect(try await router.runMigration("move").migratedCount == (policy == .takeSource ? 5 : 4))
            try await expect(router, data("new.1", to), 2 << 20)
            try await expect(router, data("new.4", to), 5 << 20)
            try await expect(
                router, data("new.2", to), policy == .takeSource ? 3 << 20 : 2 << 20,
                seed: policy == .takeSource ? 1 : 7)
            try await router.migrations.rollback("move")
            try await expect(router, data("old.1", from), 2 << 20)
            try await expect(router, data("old.2", from), 3 << 20)
            try await expect(router, data("old.3", from), 20)
            try await expect(router, data("new.2", to), 2 << 20, seed: 7)
            #expect(try await router.names(in: to, prefix: "new.") == ["new.2"])
        }
    }
}

/// Bytes that their positions determine.
private final class Pattern: @unchecked Sendable {
    // Used by one call at a time.
    private let size: Int
    private let seed: UInt8
    private var at = 0

    init(size: Int, seed: UInt8) {
        self.size = size
        self.seed = seed
    }

    var isAtEnd: Bool { at == size }

    func fill(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(buffer.count, size - at)
        if let start = buffer.baseAddress { memset(start, Int32(byte), count) }
        at += count
        return count
    }

    func matches(_ piece: UnsafeRawBufferPointer) -> Bool {
        guard at + piece.count <= size else { return false }
        at += piece.count
        return piece.first == byte && piece.last == byte
    }

    private var byte: UInt8 { seed &* 31 &+ 5 }
}
