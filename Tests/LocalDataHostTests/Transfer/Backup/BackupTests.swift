import Foundation
import Glibc
import LocalDataAPI
import TestSupport
import Testing

@testable import HostGround
@testable import HostSealing
@testable import HostTransfer
@testable import LocalDataHost

@Suite("backups", .timeLimit(.minutes(TestRun.isTorture ? 60 : 2))) struct BackupTests {
    /// A cheap derivation, for tests that open a backup thousands of times.
    private static let style = EnvelopeStyle(
        .chaCha20Poly1305, .pbkdf2(iterations: 1, salt: nil), chunkExponent: 10)
    private static let vault = """
        stores: { vault: { component: "file", options: { root: "${data}/vault" }, sealing: { source: "keyFile" } } }
        """
    private static let all = """
        userDefaults: "vault", own: "vault", fileSystem: "vault", keychain: "vault", encryptedFileSystem: "vault"
        """

    private static func passphrase(_ text: String = "open sesame") throws -> BackupPassphrase {
        .given(
            try Data(text.utf8).withBuffer { (bytes) throws(StorageError) in try SecretBytes(copying: bytes) })
    }

    private static let secret = textKey("secret", .encryptedFileSystem(), security: .recommended)
    private static let keys = [
        textKey("k", .userDefaults()), textKey("k", .custom(name: "own")), textKey("k", .fileSystem()), secret,
    ]

    /// A home whose router has values in all of ``keys``, and a backup of them.
    private func backup(
        _ home: SealedHome, _ router: StorageRouter, domains: [String] = []
    ) async throws -> (path: String, report: BackupReport) {
        for key in Self.keys { try await router.set("value of \(key.domain)", for: key) }
        let path = "\(home.folder)/backup"
        let report = try await router.backups.write(
            to: path, domains: domains, passphrase: Self.passphrase(), style: Self.style)
        return (path, report)
    }

    private func restore(
        _ router: StorageRouter, _ path: String, _ passphrase: String = "open sesame", domains: [String] = [],
        overwriting: Bool = false, planOnly: Bool = false, takingKeys: Bool = false
    ) async throws -> RestoreReport {
        var terms = RestoreTerms()
        (terms.overwrites, terms.isPlan, terms.takesKeys) = (overwriting, planOnly, takingKeys)
        return try await router.backups.restore(
            from: path, domains: domains, passphrase: Self.passphrase(passphrase), terms)
    }

    @Test("values come back in another layout of stores, sealed there, including values that their keys seal")
    func layouts() async throws {
        let (home, other) = (try SealedHome(), try SealedHome())
        defer {
            home.remove()
            other.remove()
        }
        let (path, report) = try await backup(home, try home.router())
        #expect(report.values == 4 && report.rings == 1 && report.failures.isEmpty, "\(report)")
        #expect(SealedHome.mode(path) == 0o600)
        #expect(!home.contains("open sesame"))
        #expect(try Data(contentsOf: URL(filePath: path)).range(of: Data("value of".utf8)) == nil)
        let router = try other.router(domains: Self.all, Self.vault)
        let plan = try await restore(router, path, planOnly: true, takingKeys: true)
        #expect(plan.domains.reduce(0) { $0 + $1.new } == 4 && plan.rings.map(\.isNew) == [true], "\(plan)")
        #expect(plan.changes?.count == 4 && plan.changes?.allSatisfy { $0.folder == nil } == true, "\(plan)")
        #expect(other.files("data").isEmpty)
        #expect(try await restore(router, path, takingKeys: true).restored == 5)
        for key in Self.keys { #expect(try await router.get(key) == "value of \(key.domain)") }
        #expect(!other.contains("value of"))
        #expect(try await router.attributes(of: .key(Self.keys[0]))?.serializer == "json")
        // Another process must see the same, and a second restore must give the same.
        let again = try other.router(domains: Self.all, Self.vault)
        #expect(try await again.get(Self.secret) == "value of \(Self.secret.domain)")
        #expect(try await restore(again, path).restored == 0)
        #expect(other.files("state").keys.filter { $0.hasSuffix(".intent") } == [])
        #expect(other.files("data").keys.filter { $0.contains("localdata.batch") } == [])
    }

    @Test("a value that is written meanwhile comes back with the version of the same write")
    func whileWritten() async throws {
        let (home, other) = (try SealedHome(), try SealedHome())
        defer {
            home.remove()
            other.remove()
        }
        let (router, restored) = (try home.router(), try other.router())
        let keys = [Self.keys[0], Self.keys[2], Self.secret].map { AnyStorageKey($0) }
        @Sendable func write(_ number: Int) async throws {
            for key in keys { try await router.setData(Data("\"\(number)\"".utf8), versionTag: "\(number)", for: key) }
        }
        try await write(0)
        let writer = Task {
            var number = 0
            while !Task.isCancelled {
                number += 1
                try await write(number % 10)
            }
        }
        for round in 0..<40 {
            let path = "\(home.folder)/backup.\(round)"
            _ = try await router.backups.write(to: path, passphrase: Self.passphrase(), style: Self.style)
            _ = try await restore(restored, path, overwriting: true)
            for key in keys {
                let data = try #require(try await restored.data(for: key))
                let tag = try await restored.attributes(of: key)?.versionTag
                #expect(tag.map { "\"\($0)\"" } == String(decoding: data, as: UTF8.self), "round \(round)")
            }
        }
        writer.cancel()
        try await writer.value
    }

    @Test("only chosen domains are written, and restored")
    func chosen() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try home.router()
        let (path, report) = try await backup(home, router, domains: ["own", "userDefaults"])
        #expect(report.domains.map(\.domain) == ["own", "userDefaults"] && report.values == 2)
        for key in Self.keys { try await router.remove(key) }
        #expect(try await restore(router, path, domains: ["own"]).restored == 1)
        #expect(try await router.exists(Self.keys[1]))
        #expect(try await !router.exists(Self.keys[0]))
        let error = try await StorageError.of { try await restore(router, path, domains: ["fileSystem"]) }
        #expect(error.code == .invalidAddress && error.hint.contains("own, userDefaults"), "\(error)")
    }

    @Test("other values are replaced only if that is asked for, and values that only a store has stay")
    func conflicts() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try home.router()
        let (path, _) = try await backup(home, router)
        let only = textKey("only", .userDefaults())
        try await router.set("mine", for: only)
        try await router.set("other", for: Self.keys[0])
        try await router.remove(Self.keys[1])
        let plan = try await restore(router, path, planOnly: true)
        #expect(plan.conflicts == ["userDefaults/k"])
        let counts = try #require(plan.domains.first { $0.domain == "userDefaults" })
        #expect(counts.different == 1 && counts.onlyStored == 1 && counts.new == 0)
        let error = try await StorageError.of { try await restore(router, path) }
        #expect(error.code == .busy && error.message.contains("'userDefaults/k'"), "\(error)")
        #expect(try await !router.exists(Self.keys[1]))
        #expect(try await restore(router, path, overwriting: true).restored == 2)
        for key in Self.keys { #expect(try await router.get(key) == "value of \(key.domain)") }
        #expect(try await router.get(only) == "mine")
    }

    @Test("sealed values are not restored into a store that would keep them plain")
    func plain() async throws {
        let (home, other) = (try SealedHome(), try SealedHome())
        defer {
            home.remove()
            other.remove()
        }
        let (path, _) = try await backup(home, try home.router(domains: "own: \"vault\"", Self.vault))
        let router = try other.router()
        let error = try await StorageError.of { try await restore(router, path) }
        #expect(error.code == .securityApplicationFailed && error.message.contains("'own'"), "\(error)")
        #expect(other.files("data").isEmpty)
    }

    @Test("a key ring that exists is kept, and gets the backup's keys that it lacks, if the user takes them")
    func rings() async throws {
        let (home, other) = (try SealedHome(), try SealedHome())
        defer {
            home.remove()
            other.remove()
        }
        let router = try home.router()
        let (path, _) = try await backup(home, router)
        _ = try await router.keys.rotate()
        try await router.remove(Self.secret)
        #expect(try await restore(router, path).restored == 1)
        #expect(try await router.get(Self.secret) == "value of \(Self.secret.domain)")
        let stranger = try other.router()
        let another = textKey("another", .encryptedFileSystem(), security: .recommended)
        try await stranger.set("another", for: another)
        let active = try await stranger.keys.list(of: .master).first
        let report = try await restore(stranger, path, takingKeys: true)
        #expect(report.rings.map(\.ring) == ["keychain:LocalData/master"] && report.rings.first?.isNew == false)
        for router in [stranger, try other.router()] {
            #expect(try await router.get(Self.secret) == "value of \(Self.secret.domain)")
            #expect(try await router.get(another) == "another")
            let keys = try await router.keys.list(of: .master)
            #expect(keys.map(\.state) == ["active", "decrypt-only"] && keys.first?.id == active?.id)
        }
    }

    @Test("a backup includes the ledger's records of a migration, which can be undone after the restore")
    func ledger() async throws {
        let (home, other) = (try MigrationHome(), try MigrationHome())
        defer {
            home.remove()
            other.remove()
        }
        let old: StorageKey<String> = MigrationHome.key("old", .fileSystem())
        let key: StorageKey<String> = MigrationHome.key("new", .userDefaults()) { key in
            AnyStorageMigration(
                SimpleLegacyMigration(destinationKey: key, sourceKey: .key(old), conflictPolicy: .takeSource))
        }
        let first = try home.home.router()
        try await first.set("before", for: MigrationHome.key("new", .userDefaults()) as StorageKey<String>)
        try await first.set("legacy", for: old)
        #expect(try await first.forceMigration(for: key).outcome == .migrated)
        let path = "\(home.home.folder)/backup"
        let report = try await first.backups.write(to: path, passphrase: Self.passphrase(), style: Self.style)
        #expect(report.ledger > 0)
        let second = try other.home.router(
            domains: "userDefaults: \"rows\", fileSystem: \"rows\"",
            "stores: { rows: { component: \"sqlite\", options: { path: \"${data}/rows.sqlite\" } } }")
        _ = try await restore(second, path)
        #expect(try await second.migrationHistory(for: key).map(\.state) == [.clean])
        try await second.migrations.rollback(of: key)
        #expect(try await second.get(MigrationHome.key("new", .userDefaults()) as StorageKey<String>) == "before")
        #expect(try await second.get(old) == "legacy")
    }

    @Test("a file with any flipped bit, or truncated anywhere, is refused before anything changes")
    func damage() async throws {
        let (home, other) = (try SealedHome(), try SealedHome())
        defer {
            home.remove()
            other.remove()
        }
        let (path, _) = try await backup(home, try home.router())
        let whole = try Data(contentsOf: URL(filePath: path))
        let router = try other.router(domains: Self.all, Self.vault)
        let kept = textKey("kept", .userDefaults())
        try await router.set("kept", for: kept)
        let before = other.files("data")
        let damaged = "\(home.folder)/damaged"
        func refused(_ bytes: Data, _ what: String) async throws {
            try bytes.write(to: URL(filePath: damaged))
            let error = await #expect(throws: StorageError.self, "\(what)") { try await restore(router, damaged) }
            #expect([.corrupt, .cannotOpen, .unsupported].contains(error?.code), "\(what): \(error.debugDescription)")
            #expect(error?.message.contains(damaged) == true, "\(what): \(error.debugDescription)")
        }
        for bit in TestRun.sample(200, of: Array(0..<whole.count * 8)) {
            var bytes = whole
            bytes[bit / 8] ^= 1 << (bit % 8)
            try await refused(bytes, "bit \(bit) of \(whole.count * 8)")
        }
        for size in TestRun.sample(40, of: Array(0..<whole.count)) + [0, 1, 4, 5, 6, whole.count - 1] {
            try await refused(whole.prefix(size), "\(size) bytes of \(whole.count)")
        }
        try await refused(whole + [0], "one byte more")
        #expect(other.files("data") == before)
        #expect(try await restore(router, path).restored == 4)
    }

    @Test("a file that is no backup, a wrong passphrase and an unusable location are refused with a clear message")
    func refusals() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try home.router()
        let (path, _) = try await backup(home, router)
        let folder = home.folder
        func write(_ bytes: [UInt8]) throws -> String {
            try Data(bytes).write(to: URL(filePath: "\(folder)/bad"))
            return "\(folder)/bad"
        }
        mkfifo("\(folder)/pipe", 0o600)
        let cases: [(path: String, passphrase: String, part: String)] = [
            (try write([]), "x", "it is empty"), ("\(folder)/pipe", "x", "not a regular file"),
            (folder, "x", "not a regular file"), ("\(folder)/absent", "x", "cannot be opened"),
            (path, "wrong", "the passphrase does not open"), (path, "", "is empty"), (path, "\n", "is empty"),
        ]
        for (path, passphrase, part) in cases {
            let error = try await StorageError.of { try await restore(router, path, passphrase) }
            #expect(error.message.contains(part) && !error.hint.isEmpty, "\(error)")
        }
        for (bytes, part) in [
            (Array("{\"a\": 1}".utf8), "is not a backup"), ([0x89, 0x4C, 0x44, 0x42, 9], "has version 9"),
            ([0x89, 0x4C, 0x44, 0x42, 1], "is damaged"),
        ] {
            let error = try await StorageError.of { try await restore(router, write(bytes)) }
            #expect(error.message.contains(part), "\(error)")
        }
        for (place, part) in [
            (path, "exists"), (folder, "not a regular file"), ("\(folder)/pipe", "not a regular file"),
            ("\(folder)/no/backup", "does not exist"), ("", "names no file"), ("\(folder)/", "names no file"),
        ] {
            let error = try await StorageError.of {
                try await router.backups.write(to: place, passphrase: Self.passphrase(), style: Self.style)
            }
            #expect(error.message.contains(part), "\(error)")
        }
        let error = try await StorageError.of {
            try await router.backups.write(to: "\(folder)/new", domains: ["nowhere"], passphrase: Self.passphrase())
        }
        #expect(error.code == .invalidAddress)
        #expect(access("\(folder)/new", F_OK) != 0)
        _ = try await router.backups.write(
            to: path, passphrase: Self.passphrase(), overwriting: true, style: Self.style)
        #expect(try await restore(router, path).restored == 0)
    }

    @Test("records with impossible sizes and counts are refused")
    func records() {
        let item = BackupRecord.item(
            BackupItem(
                kind: .value, domain: "own", scope: "s", name: "n",
                attributes: ValueAttributes(serializer: "json", owner: "o"),
                holders: [.init(app: "editor", found: 1, set: 2, left: 3, removed: 4, isApart: true), .init(app: "")]))
        let manifest = BackupRecord.manifest(
            BackupManifest(
                version: "1", created: 2, expected: 3, domains: [.init(name: "own", isProtected: true)]))
        for record in [item, manifest, .end(count: 4, bytes: 5)] {
            let (type, fields) = (record.encoded[0], Array(record.encoded.dropFirst(BackupRecord.headSize)))
            #expect(BackupRecord(type: type, fields: fields) == record)
            #expect(BackupRecord(type: type, fields: fields + [0]) == nil)
            for size in fields.indices { #expect(BackupRecord(type: type, fields: Array(fields.prefix(size))) == nil) }
            #expect(BackupRecord(type: type, fields: Array(repeating: 0xFF, count: fields.count)) == nil || type == 5)
        }
        #expect(BackupRecord(type: 9, fields: []) == nil)
    }
}
