import Foundation
import LocalDataAPI

@testable import HostGround
@testable import HostSealing
@testable import HostTransfer
@testable import LocalDataHost

/// A backup whose records a test chooses, sealed as it should be: what anybody can make from the specification.
struct CraftedBackup {
    /// A cheap derivation, for tests that open a backup thousands of times.
    static let style = EnvelopeStyle(.chaCha20Poly1305, .pbkdf2(iterations: 1, salt: nil), chunkExponent: 10)

    static func passphrase(_ text: String = "open sesame") throws -> BackupPassphrase {
        .given(try Data(text.utf8).withBuffer { (bytes) throws(StorageError) in try SecretBytes(copying: bytes) })
    }

    /// A value, ring or entry of the ledger.
    struct Record {
        var item: BackupItem
        var bytes: Data
    }

    var domains: [BackupManifest.Domain] = []
    /// In any order.
    var records: [Record] = []

    init() {}

    /// The records of a file.
    init(_ path: String, _ router: StorageRouter) async throws {
        let crypto = try await router.snapshot().crypto.openIfNeeded()
        let key = try Self.passphrase().key(of: path, isNew: false)
        let reader = try BackupReader(BackupFile(path), crypto, key: key)
        domains = try reader.manifest().domains
        while let item = try reader.next() {
            records.append(Record(item: item, bytes: try reader.gather(atMost: .max).data))
        }
    }

    /// Adds a value.
    mutating func add(_ domain: String, _ scope: String, _ name: String, _ text: String) {
        if !domains.contains(where: { $0.name == domain }) { domains.append(.init(name: domain, isProtected: false)) }
        let item = BackupItem(kind: .value, domain: domain, scope: scope, name: name)
        records.append(Record(item: item, bytes: Data(text.utf8)))
    }

    /// Writes the file.
    func write(to path: String, _ router: StorageRouter) async throws {
        let crypto = try await router.snapshot().crypto.openIfNeeded()
        let key = try Self.passphrase().key(of: path, isNew: false)
        try BackupTarget(path, overwriting: true).write(crypto, under: key, as: Self.style) { writer in
            try writer.begin(
                BackupManifest(version: "1", created: 1, expected: UInt64(records.count), domains: domains))
            let ordered = records.sorted { $0.item.order.lexicographicallyPrecedes($1.item.order) }
            for record in ordered { try writer.add(record.item) { take in try record.bytes.withUnsafeBytes(take) } }
            try writer.end()
        }
    }
}

extension StorageRouter {
    /// Restores a backup with the usual passphrase of tests.
    func restore(
        _ path: String, _ change: (inout RestoreTerms) throws -> Void = { _ in }
    ) async throws -> RestoreReport {
        var terms = RestoreTerms()
        try change(&terms)
        return try await backups.restore(from: path, passphrase: CraftedBackup.passphrase(), terms)
    }

    /// Writes a backup with the usual passphrase of tests.
    func backUp(_ path: String) async throws -> BackupReport {
        try await backups.write(
            to: path, passphrase: CraftedBackup.passphrase(), overwriting: true, style: CraftedBackup.style)
    }
}
