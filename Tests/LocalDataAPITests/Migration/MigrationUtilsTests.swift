import FoundationEssentials
import LocalDataAPI
import TestSupport
import Testing

@Suite("checks of migrations") struct MigrationUtilsTests {
    private func key<Value>(
        _ name: String, _ type: Value.Type, _ domain: StorageDomain = .userDefaults(),
        _ security: SecurityPolicy = .none
    ) -> StorageKey<Value> {
        StorageKey(name: name, domain: domain, security: security, owner: "tests", description: "a key")
    }

    @Test("seed defect 43: the size of a value is that of its bytes")
    func size() throws {
        #expect(try MigrationUtils.estimatedSize(of: "four", for: key("k", String.self)) == 6)
        #expect(throws: StorageError.serializationFailed) {
            try MigrationUtils.estimatedSize(of: .nan, for: key("k", Double.self))
        }
    }

    @Test("seed defect 18: incompatible keys are reported by name")
    func compatibility() throws {
        let source = key("old", String.self)
        try MigrationUtils.validateCompatibility(from: .from(source), to: .from(key("new", String.self)))
        let types = #expect(throws: MigrationError.self) {
            try MigrationUtils.validateCompatibility(from: .from(source), to: .from(key("new", Int.self)))
        }
        #expect(types?.code == .incompatibleTypes)
        #expect("\(try #require(types))".contains("'userDefaults/old' has values of String"))
        #expect(throws: MigrationError.incompatibleTypes) {
            try MigrationUtils.validateCompatibility(from: .from(source), to: .from(source))
        }
    }

    @Test(
        "a migration never takes protection away",
        arguments: [
            (StorageDomain.keychain(service: "s"), SecurityPolicy.recommended), (.encryptedFileSystem(), .none),
            (.userDefaults(), .recommended),
        ])
    func downgrade(_ domain: StorageDomain, _ security: SecurityPolicy) {
        let source = key("old", String.self, domain, security)
        #expect(throws: MigrationError.validationFailed) {
            try MigrationUtils.validateCompatibility(from: .from(source), to: .from(key("new", String.self)))
        }
        let error = #expect(throws: MigrationError.self) {
            try DefaultTransformingMigration(destinationKey: key("new", Int.self), sourceKey: source) { $0.count }
                .validate()
        }
        #expect(error?.code == .validationFailed)
    }

    @Test("seed defect 13: a fallback for another key is refused, and so is a malformed version")
    func fallback() {
        let fallback = AnyStorageMigration(
            SimpleLegacyMigration(
                destinationKey: key("other", String.self), sourceKey: .key(key("old", String.self))))
        let migration = AppVersionConditionalMigration(
            destinationKey: key("new", String.self), minAppVersion: "2.0", fallbackMigration: fallback)
        #expect(throws: MigrationError.validationFailed) { try migration.validate() }
        let unversioned = AppVersionConditionalMigration(
            destinationKey: key("other", String.self), minAppVersion: "two", fallbackMigration: fallback)
        #expect(throws: MigrationError.validationFailed) { try unversioned.validate() }
    }

    @Test("seed defect 41: errors of migrations are caught by name and describe themselves")
    func errors() throws {
        do { throw MigrationError(.sourceDataNotFound, "'a' is not stored") } catch MigrationError.conflict {
            Issue.record("another code")
        } catch MigrationError.sourceDataNotFound {}
        let error: any Error = MigrationError(.finalTypeMismatch, "a chain ended in B")
        #expect("\(error)" == "a chain ended in B")
        #expect(MigrationError.pathNotFound == MigrationError(.pathNotFound, "other words"))
    }

    @Test("seed defect 43: only types that the seeds call Utils or Manager have such names")
    func names() throws {
        let declaration = try Regex(#"(?:struct|class|enum|protocol|actor) (\w*(?:Utils|Manager)\w*)"#)
        var found: Set<String> = []
        for path in Repository.files(below: "Sources", where: { $0.hasSuffix(".swift") }) {
            for match in try Repository.text(path).matches(of: declaration) {
                found.insert(match.output[1].substring.map { String($0) } ?? "")
            }
        }
        #expect(found == ["MigrationUtils", "UserDefaultsMigrationManager"])
    }

    @Test("seed defect 17: this is Linux, and the role is the given one")
    func device() throws {
        #expect(DeviceInfo.current.platform == .linux && DeviceInfo(role: .watch).role == .watch)
        let release = try String(contentsOfFile: "/proc/sys/kernel/osrelease", encoding: .utf8)
        #expect(DeviceInfo.current.systemVersion + "\n" == release)
        #if arch(x86_64)
            #expect(DeviceInfo.current.model == "x86_64")
        #elseif arch(arm64)
            #expect(DeviceInfo.current.model == "aarch64")
        #endif
    }

    @Test("seed defect 18: the available memory is less than the total")
    func system() throws {
        let text = try String(contentsOfFile: "/proc/meminfo", encoding: .utf8)
        let total = try #require(
            text.split(separator: "\n").first { $0.hasPrefix("MemTotal:") }?.split(separator: " ").dropFirst().first)
        #expect(SystemInfo.current.availableMemory > 0)
        #expect(SystemInfo.current.availableMemory < (try #require(UInt64(total))) * 1024)
    }
}
