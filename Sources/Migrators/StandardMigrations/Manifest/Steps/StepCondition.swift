internal import LocalDataAPI

/// The versions that a step is for: of the app that wrote the data, and of the one that runs.
struct StepCondition: Sendable {
    var dataVersion: VersionCondition?
    var appVersion: VersionCondition?

    /// Whether the versions are right.
    ///
    /// - Throws: `conditionalMigrationFailed` if one that counts is not known, and how to say it.
    func holds(for destination: ManifestKey, _ context: MigrationContext) throws(MigrationError) -> Bool {
        if let dataVersion {
            let subject = "the version of the app that wrote the data for '\(destination.text)'"
            guard dataVersion.holds(for: try Self.version(context.dataVersion, subject, "migrations.dataVersion"))
            else { return false }
        }
        guard let appVersion else { return true }
        return appVersion.holds(
            for: try Self.version(context.appVersion, "the version of the running app", "app.version"))
    }

    private static func version(
        _ text: String?, _ subject: String, _ setting: String
    ) throws(MigrationError) -> SemanticVersion {
        guard let text else {
            throw MigrationError(
                .conditionalMigrationFailed,
                "\(subject) is not known; say which it is: ld-host config set \(setting) VERSION")
        }
        guard let version = SemanticVersion(text) else {
            throw MigrationError(
                .conditionalMigrationFailed, "\(subject) is '\(text)', which is no semantic version such as 2.0.0")
        }
        return version
    }
}
