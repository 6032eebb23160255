import LocalDataAPI
import LocalDataHost

/// Keys for tests of the router: not encrypted, unless they say so.
func textKey(
    _ name: String, _ domain: StorageDomain = .userDefaults(), security: SecurityPolicy = .none,
    description: String = "a key for tests", availability: PlatformAvailability = .all
) -> StorageKey<String> {
    StorageKey(
        name: name, domain: domain, security: security, owner: "tests", description: description,
        availability: availability)
}

extension StorageRouter {
    /// A router with all domains on `memory`, plus the settings in `text`.
    static func inMemory(_ fixture: FixtureBuilder, _ text: String = "") throws -> StorageRouter {
        let domains = (StorageDomain.standardNames + ["own"]).map { "\($0): \"memory\"" }.joined(separator: ", ")
        return StorageRouter(configuration: try fixture.configuration("domains: { \(domains) }, \(text)"))
    }
}
