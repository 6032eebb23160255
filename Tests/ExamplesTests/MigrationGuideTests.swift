import Testing

@Suite("The guide to migrations")
struct MigrationGuideTests {
    @Test("has no Swift sample that is not, word for word, in the example that is compiled and run")
    func samplesAreCompiled() throws {
        let folder = "Examples/SecureStorageSample/Sources/SecureStorageSample"
        let sources = try [
            "SecureStorageSample.swift", "Keys/ModernKeys.swift", "Migrations/ProfileTransformMigration.swift",
            "Migrations/AggregatedSettingsMigration.swift", "Migrations/ConditionalProfileMigration.swift",
        ].map { try Repository.text("\(folder)/\($0)") }
        let article = try Repository.text("Sources/LocalDataAPI/LocalDataAPI.docc/Migrations.md")
        let blocks = article.split(separator: "```swift\n").dropFirst()
            .compactMap { $0.split(separator: "```", maxSplits: 1).first.map(String.init) }
        #expect(blocks.count == 7)
        for block in blocks { #expect(sources.contains { $0.contains(block) }, "not compiled anywhere:\n\(block)") }
    }
}
