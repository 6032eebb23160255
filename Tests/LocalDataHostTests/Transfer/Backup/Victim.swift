import Foundation
import Glibc
import LocalDataAPI
import TestSupport
import Testing

@testable import HostGround
@testable import HostTransfer
@testable import LocalDataHost

/// A user with a home beside the folders of LocalData, into which somebody else's files must not write, and with key
/// rings that they must not change.
final class Victim: Sendable {
    let home: SealedHome
    /// One for all cases: a router and its stores are never freed.
    let router: StorageRouter
    /// That of the user's app, whose keys take part in sync.
    let app: StorageRouter
    /// What is outside of LocalData's folders, with its content.
    private let outside: [String: Data]
    private let rings: [String]

    static let domains: [StorageDomain] = [
        .userDefaults(), .userDefaults(suite: "other"), .custom(name: "own"), .fileSystem(),
        .fileSystem(directory: .caches), .appGroupUserDefaults(), .appGroupFileSystem(),
    ]

    /// The keys of the user's app.
    static let keys = [
        StorageKey<String>(
            name: "synced", domain: .userDefaults(), owner: "tests", description: "a key for tests",
            syncPolicy: .automaticSmall),
        StorageKey<String>(
            name: "file", domain: .fileSystem(), owner: "tests", description: "a key for tests",
            syncPolicy: .automaticSmall),
    ]

    private struct Catalog: StorageKeyCatalog {
        let allKeys: [AnyStorageKey]
    }

    init() async throws {
        home = try SealedHome()
        for (path, text) in [
            (".ssh/authorized_keys", "mine"), (".config/autostart/mine.desktop", "mine"), ("documents/letter", "mine"),
        ] {
            let file = URL(filePath: "\(home.folder)/home/\(path)")
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }
        router = try home.router()
        app = try home.router()
        try await app.registerCatalog(Catalog(allKeys: Self.keys.map { .key($0) }))
        rings = try await router.ownKeys()
        outside = Self.files(home)
    }

    func remove() { home.remove() }

    /// Runs a command of `ld-host` with the same stores.
    func run(_ words: String...) throws -> ChildProcess.Completion {
        let options = [
            "directories.data=\(home.folder)/data", "directories.state=\(home.folder)/state",
            "directories.cache=\(home.folder)/cache", "directories.config=\(home.folder)/config",
            "domains.own=file", "domains.userDefaults=file", "appGroups.default=group.app",
        ]
        return try home.fixture.runHost(options.flatMap { ["-c", $0] } + words)
    }

    /// That nothing outside has changed, that the rings are the same, and that all can be listed.
    func check(_ what: String) async throws {
        #expect(Self.files(home) == outside, "\(what)")
        #expect(try await router.ownKeys() == rings, "\(what)")
        let (scopes, failures) = try await router.scopes(of: .everything)
        #expect(failures.isEmpty, "\(failures); \(what)")
        for scope in scopes {
            try await router.forEachName(in: scope) { name in
                if scope.domain == .encryptedFileSystem(), name == "own" { return }
                let key = try await router.unseenKey(at: "\(scope.domain)/\(name)")
                #expect(try await router.remove(key), "\(scope.domain)/\(name); \(what)")
            }
        }
    }

    private static func files(_ home: SealedHome) -> [String: Data] {
        home.files().filter { path, _ in
            !["data/", "state/", "cache/", "document"].contains { path.hasPrefix($0) }
        }
    }
}

// Changes at random.
extension Victim {
    private func scope(_ random: inout SeededGenerator) -> String {
        let home = home.folder
        let scopes = [
            "\(home)/home/.ssh", "\(home)/home/.config/autostart", "\(home)/home/documents", "/", "\(home)/home/new",
            "\(home)/data/../home/.ssh", "\(home)/./home/.ssh", "\(home)//home/.ssh", "../../home/.ssh", "..", ".", "",
            "documents/../../../home", "caches/../../../../home/.ssh", "documents", "caches", "app:documents",
            "../../x:documents", "group.app:documents", "group.app:\(home)/home/.ssh", ":\(home)/home/.ssh",
            "group.app",
            "..:caches", "org.example:../../..", "LocalData", "a b", "é", "\u{202e}x", "x\ny", "%2F..%2F", "~/.ssh",
            "$HOME/.ssh", "${data}/../home", "\(home)/data/files", "\(home)/state/journal", "\(home)/config",
        ]
        return scopes.randomElement(using: &random) ?? ""
    }

    private func name(_ random: inout SeededGenerator) -> String {
        let names = [
            "authorized_keys", "k", "own", "../authorized_keys", "../../home/.ssh/authorized_keys", ".", "..",
            ".hidden", "a/b", "/etc/passwd", "master", "é", "x\ny", String(repeating: "n", count: 1024),
            ".batch/journal",
            ".tmp", "values.sqlite", "localdata.batch",
        ]
        return names.randomElement(using: &random) ?? ""
    }

    private func domain(_ random: inout SeededGenerator) -> String {
        let names =
            StorageDomain.standardNames + ["own", "localdata.rings", "localdata.batch", "localdata.sync", "unknown"]
        return names.randomElement(using: &random) ?? ""
    }

    /// An address as text; often one that cannot be.
    func address(_ random: inout SeededGenerator) -> String {
        let (domain, scope, name) = (domain(&random), scope(&random), name(&random))
        switch Int.random(in: 0..<4, using: &random) {
        case 0: return "\(domain)/\(name)"
        case 1: return "\(domain):\(scope)/\(name)"
        default: return "\(StorageNamespace(domain: domain, scope: scope))/\(name)"
        }
    }

    /// Flips a bit, cuts off the end, or adds a byte.
    func damage(_ data: inout Data, _ random: inout SeededGenerator) {
        guard !data.isEmpty else { return data.append(0) }
        switch Int.random(in: 0..<3, using: &random) {
        case 0:
            let bit = Int.random(in: 0..<data.count * 8, using: &random)
            data[data.startIndex + bit / 8] ^= 1 << (bit % 8)
        case 1: data = Data(data.prefix(Int.random(in: 0..<data.count, using: &random)))
        default: data.append(UInt8.random(in: .min ... .max, using: &random))
        }
    }

    /// Changes a backup's records.
    func change(_ backup: inout CraftedBackup, _ random: inout SeededGenerator) {
        guard let index = backup.records.indices.randomElement(using: &random) else { return }
        let item = backup.records[index].item
        let kinds: [BackupItem.Kind] = [.ring, .value, .ledger]
        var changed = BackupItem(
            kind: item.kind, domain: item.domain, scope: item.scope, name: item.name, attributes: item.attributes)
        switch Int.random(in: 0..<8, using: &random) {
        case 0...2:
            changed = BackupItem(kind: item.kind, domain: item.domain, scope: scope(&random), name: item.name)
        case 3:
            changed = BackupItem(
                kind: item.kind, domain: domain(&random), scope: scope(&random), name: name(&random))
        case 4:
            changed = BackupItem(
                kind: kinds.randomElement(using: &random) ?? .value, domain: item.domain, scope: item.scope,
                name: name(&random))
        case 5: damage(&backup.records[index].bytes, &random)
        case 6:
            changed.attributes.owner = name(&random)
            changed.holders = [name(&random), scope(&random)].map {
                .init(app: $0, found: .random(in: 0 ... .max, using: &random), left: 1, removed: .max)
            }
            changed.attributes.expires = Int64.random(in: .min ... .max, using: &random)
            changed.attributes.serializer = scope(&random)
        default: backup.records.remove(at: index)
        }
        guard backup.records.indices.contains(index) else { return }
        backup.records[index].item = changed
        if !backup.domains.contains(where: { $0.name == changed.domain }), Bool.random(using: &random) {
            backup.domains.append(.init(name: changed.domain, isProtected: Bool.random(using: &random)))
        }
    }
}

extension StorageRouter {
    /// The keys of all rings that open values here, after a first value was sealed.
    fileprivate func ownKeys() async throws -> [String] {
        let key = textKey("own", .encryptedFileSystem(), security: .recommended)
        if try await !exists(key) { try await set("mine", for: key) }
        let former = try await keys.formerRings().flatMap { ring in
            ["\(ring.service)/\(ring.account)"] + ring.keys.map(\.id)
        }
        return try await keys.list().map { "\($0.id) \($0.state)" } + former
    }
}
