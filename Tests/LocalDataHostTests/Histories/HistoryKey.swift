import FoundationEssentials
import LocalDataAPI

@testable import LocalDataHost

/// A key as one release declares it.
struct HistoryKey: Hashable, Sendable {
    var owner = "app"
    var name: String
    var place: HistoryPlace
    var type: HistoryType
    var format: SerializerFormat = .json
    /// Whether its own policy seals it where the place does not.
    var isSealed = false
    /// Whether it takes part in sync.
    var isSynced = false
    /// The declaration that its migration takes older data from, if it has one.
    var sources: [HistoryKey] = []

    /// This declaration, and all that its migration may take data from.
    var andSources: [HistoryKey] { [self] + sources.flatMap(\.andSources) }

    var isProtected: Bool { isSealed || place.protects }

    /// The release's line of code, in words.
    var words: String {
        let policy = place.protects ? "" : isSealed ? ", sealed" : ""
        let from = sources.first.map { ", migrates from [\($0.words)]" } ?? ""
        return "'\(name)' \(type.words) (\(format)\(policy)) in \(place.words)\(from)"
    }

    /// The key in code.
    func access(in home: String) throws(MigrationError) -> any HistoryAccess {
        switch type {
        case .text: HistoryTypedAccess(key: try key(in: home, as: String.self))
        case .number: HistoryTypedAccess(key: try key(in: home, as: Int.self))
        case .record: HistoryTypedAccess(key: try key(in: home, as: HistoryRecord.self))
        case .link(1, _): HistoryTypedAccess(key: try key(in: home, as: HistoryLink.First.self))
        case .link(2, _): HistoryTypedAccess(key: try key(in: home, as: HistoryLink.Second.self))
        case .link(3, _): HistoryTypedAccess(key: try key(in: home, as: HistoryLink.Third.self))
        case .link: HistoryTypedAccess(key: try key(in: home, as: HistoryLink.Fourth.self))
        }
    }

    private var security: SecurityPolicy {
        switch place {
        case .keychain: .keychain(accessibility: .afterFirstUnlock)
        default: isProtected ? .recommended : .none
        }
    }

    private func key<Value: HistoryContent>(
        in home: String, as type: Value.Type
    ) throws(MigrationError) -> StorageKey<Value> {
        guard case .link(let version, let since) = self.type else { return plainKey(in: home, as: type) }
        let builder = DataMigrator<Value>.Builder(targetType: Value.self)
        Self.register(builder, upTo: version, since: since)
        let domain = place.domain(in: home)
        return StorageKey(
            name: name, domain: domain, security: security, owner: owner, description: "a value of a history",
            syncPolicy: isSynced ? .automaticSmall : .never, migrator: try builder.build())
    }

    private func plainKey<Value: HistoryContent>(in home: String, as type: Value.Type) -> StorageKey<Value> {
        var migration: (@Sendable (StorageKey<Value>) -> AnyStorageMigration)?
        if let source = sources.first {
            let isSameType = source.type == self.type
            migration = { key in source.migration(to: key, isSameType: isSameType, in: home) }
        }
        return StorageKey(
            name: name, domain: place.domain(in: home), security: security,
            serializer: format == .plist ? .plist : .json, owner: owner, description: "a value of a history",
            syncPolicy: isSynced ? .automaticSmall : .never, migration: migration)
    }

    private static func register<Value: HistoryContent>(
        _ builder: DataMigrator<Value>.Builder, upTo version: Int, since: Int
    ) {
        func add<From: HistoryContent, To: HistoryContent>(_ from: From.Type, _ to: To.Type, _ number: Int) {
            guard number >= since, number < version else { return }
            builder.register(from: from, to: to) { To(history: $0.historyNumber) }
        }
        add(HistoryLink.First.self, HistoryLink.Second.self, 1)
        add(HistoryLink.Second.self, HistoryLink.Third.self, 2)
        add(HistoryLink.Third.self, HistoryLink.Fourth.self, 3)
        // A branch: the shorter way counts.
        if version == 4, since == 1 {
            builder.register(from: HistoryLink.First.self, to: HistoryLink.Third.self) {
                HistoryLink.Third(history: $0.historyNumber)
            }
        }
    }

    private func migration<Value: HistoryContent>(
        to key: StorageKey<Value>, isSameType: Bool, in home: String
    ) -> AnyStorageMigration {
        switch type {
        case .text: migration(from: plainKey(in: home, as: String.self), to: key, isSameType)
        case .number: migration(from: plainKey(in: home, as: Int.self), to: key, isSameType)
        default: migration(from: plainKey(in: home, as: HistoryRecord.self), to: key, isSameType)
        }
    }

    private func migration<Source: HistoryContent, Value: HistoryContent>(
        from source: StorageKey<Source>, to key: StorageKey<Value>, _ isSameType: Bool
    ) -> AnyStorageMigration {
        isSameType
            ? AnyStorageMigration(SimpleLegacyMigration(destinationKey: key, sourceKey: .key(source)))
            : AnyStorageMigration(
                DefaultTransformingMigration(destinationKey: key, sourceKey: source) {
                    Value(history: $0.historyNumber)
                })
    }
}
