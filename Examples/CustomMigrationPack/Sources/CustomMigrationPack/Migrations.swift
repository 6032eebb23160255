import FoundationEssentials
import LocalDataAPI

/// Legacy: the value as it is, under a key that is better protected.
let tokenMigration = SimpleLegacyMigration(destinationKey: Keys.token, sourceKey: .key(Keys.plainToken))

/// Conditional: the theme moves only if the user did not ask to start over.
struct ThemeMigration: ConditionalMigration {
    let destinationKey = Keys.theme
    let id = "theme"
    let summary = "renames ui.theme, unless the preference 'fresh' is set"
    var sources: [AnyStorageKey] { [.key(Keys.oldTheme)] }

    func shouldMigrate(using router: any StorageProviding, context: MigrationContext) async throws -> Bool {
        guard context.userPreferences["fresh"]?.content != .bool(true) else { return false }
        return try await router.exists(Keys.oldTheme)
    }

    func migrate(using router: any StorageProviding, context: MigrationContext) async throws -> MigrationResult {
        try await router.set(try await router.get(Keys.oldTheme), for: destinationKey)
        try await router.remove(Keys.oldTheme)
        return MigrationResult(success: true, migratedCount: 1)
    }
}

/// Transforming: another type.
struct ProfileMigration: TransformingMigration {
    let destinationKey = Keys.profile
    let sourceKey = Keys.profileV1
    let id = "profile"
    let summary = "splits the profile's name"

    func transform(_ source: UserProfileV1) throws -> UserProfileV2 {
        let parts = source.name.split(separator: " ", maxSplits: 1).map(String.init)
        guard let first = parts.first else {
            throw MigrationError(.transformationFailed, "the profile has an empty name")
        }
        return UserProfileV2(firstName: first, lastName: parts.count > 1 ? parts[1] : "")
    }
}

/// Aggregating: two values become one.
struct FontMigration: AggregatingMigration {
    let destinationKey = Keys.font
    let id = "font"
    let summary = "makes one value of the font's name and size"
    /// The default, if the user never chose a name.
    let name: String
    var sourceKeys: [AnyStorageKey] { [.key(Keys.fontName), .key(Keys.fontSize)] }

    func aggregate(_ sources: MigrationSources) throws -> Font {
        Font(
            name: try sources.value(of: Keys.fontName) ?? name, size: try sources.value(of: Keys.fontSize) ?? 12)
    }
}

/// By app version: a number that versions before 2.0.0 counted from 1 is now counted from 0.
let startsMigration = AppVersionConditionalMigration(
    destinationKey: Keys.starts, minAppVersion: "2.0.0",
    fallbackMigration: AnyStorageMigration(
        DefaultTransformingMigration(destinationKey: Keys.starts, sourceKey: Keys.counter) { $0 - 1 }))

/// Written by hand: anything that a transaction can do, after the migration that it depends on.
struct DocumentMigration: StorageMigration {
    let destinationKey = Keys.document
    let id = "document"
    let summary = "turns the draft into a document in the user's font"
    let dependencies = ["font"]
    var sources: [AnyStorageKey] { [.key(Keys.draft)] }

    func shouldMigrate(using router: any StorageProviding, context: MigrationContext) async throws -> Bool {
        try await router.exists(Keys.draft)
    }

    func migrate(using router: any StorageProviding, context: MigrationContext) async throws -> MigrationResult {
        let draft = try await router.get(Keys.draft)
        let font = try await router.exists(Keys.font) ? try await router.get(Keys.font).name : "default"
        try await router.set("[\(font)] " + draft.replacing("<v1>", with: ""), for: destinationKey)
        try await router.remove(Keys.draft)
        return MigrationResult(success: true, migratedCount: 1, metadata: ["font": .init(.string(font))])
    }
}

/// Removing: deletes a value that nothing uses any more.
struct TelemetryRemoval: StorageMigration {
    let destinationKey = Keys.telemetry
    let id = "no telemetry"
    let summary = "removes the telemetry id"
    let effect = MigrationEffect.removes

    func shouldMigrate(using router: any StorageProviding, context: MigrationContext) async throws -> Bool {
        try await router.exists(destinationKey)
    }

    func migrate(using router: any StorageProviding, context: MigrationContext) async throws -> MigrationResult {
        try await router.remove(destinationKey)
        return MigrationResult(success: true, migratedCount: 1)
    }
}

/// Bulk: moves and trims every value whose name starts with `recent.`.
struct RecentMove: BulkMigration {
    let id = "recent"
    let summary = "moves recent.* to history.*, without spaces around"
    let source = MigrationRange(domain: Keys.preferences, prefix: "recent.", serializer: .json)
    let destination = MigrationRange(domain: Keys.preferences, prefix: "history.", serializer: .json)

    func convert(_ data: Data, named name: String) throws -> Data {
        let text = try JSONDecoder().decode(String.self, from: data)
        let words = text.split(separator: " ").joined(separator: " ")
        return try JSONEncoder().encode(words)
    }
}
