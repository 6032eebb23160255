import FoundationEssentials
import Testing

@testable import LocalDataAPI

@Suite("the names that the seeds' code uses") struct SeedSurfaceTests {
    @Test("a whole number of any payload is an Int, as `as? Int` expects it")
    func wholeNumbers() throws {
        let payload = try JSONDecoder().decode(
            AnyCodable.self, from: Data(#"{"count": 3, "list": [1, -2], "most": 9223372036854775807}"#.utf8))
        let members = try #require(payload.value as? [String: (any Sendable)?])
        #expect(members["count"] as? Int == 3 && members["most"] as? Int == .max)
        let list = try #require(members["list"] as? [(any Sendable)?])
        #expect(list.map { $0 as? Int } == [1, -2])
    }

    @Test("a payload is made of variables, too")
    func variables() {
        let (truth, whole, number, text) = (true, 5, 2.5, "text")
        let list = [AnyCodable(truth), AnyCodable(whole), AnyCodable(number), AnyCodable(text)]
        #expect(AnyCodable(list) == [true, 5, 2.5, "text"])
        #expect(AnyCodable(["list": AnyCodable(list)]) == ["list": [true, 5, 2.5, "text"]])
    }

    @Test("an error's localized description is its message")
    func descriptions() {
        let errors: [(any Error, String)] = [
            (StorageError(.notFound, "'a/b' is not stored", hint: "look elsewhere"), "'a/b' is not stored"),
            (StorageError.notFound, StorageError.Code.notFound.summary),
            (MigrationError(.conflict, "'a/b' has a value"), "'a/b' has a value"),
            (MigrationError.storageFailed(StorageError(.noSpace, "the disk is full")), "the disk is full"),
        ]
        for (error, text) in errors { #expect((error as? any LocalizedError)?.errorDescription == text) }
        #expect(StorageError(.notFound, "x", hint: "look elsewhere").recoverySuggestion == "look elsewhere")
        #expect(StorageError(.busy, "x").recoverySuggestion == nil)
        let forOperators = StorageError(.busy, "x", hint: "run: ld-host reseal")
        #expect(forOperators.recoverySuggestion == nil && "\(forOperators)" == "x (run: ld-host reseal)")
        #expect(MigrationError.conflict.recoverySuggestion == nil)
    }

    @Test("errors with a sentence are made as the seeds make them, and matched by their codes")
    func payloads() {
        let errors: [MigrationError] = [
            .validationFailed("m"), .transformationFailed("m"), .incompatibleTypes("m"), .aggregationFailed("m"),
            .conditionalMigrationFailed("m"), .sourceDataNotFound("m"),
        ]
        let codes: [MigrationError] = [
            .validationFailed, .transformationFailed, .incompatibleTypes, .aggregationFailed,
            .conditionalMigrationFailed, .sourceDataNotFound,
        ]
        #expect(errors == codes && errors.allSatisfy { $0.message == "m" })
        do { throw MigrationError.transformationFailed("Mock failure") } catch MigrationError.transformationFailed {
        } catch { Issue.record(error) }
    }

    @Test("checks for authors have the seeds' names")
    func utilities() {
        #expect(MigrationUtils.canTransform(from: Int.self, to: String.self))
        #expect(MigrationUtils.canTransform(from: String.self, to: Int.self))
        #expect(MigrationUtils.canTransform(from: Int.self, to: Int.self))
        #expect(!MigrationUtils.canTransform(from: Int.self, to: Double.self))
        #expect(MigrationUtils.estimatedSize(for: Data(count: 12)) == 12)
        let key = StorageKeyDescriptor(
            name: "a", domain: .userDefaults(), security: .none, serializer: .json, owner: "", description: "")
        #expect(throws: MigrationError.incompatibleTypes) {
            try MigrationUtils.validateCompatibility(source: key, destination: key)
        }
    }

    @Test("device, system and context are created and queried as in the seeds")
    func context() {
        let platform: Platform = DeviceInfo.current.platform
        #expect(platform == .linux && !DeviceInfo.current.isSimulator)
        #expect(PlatformAvailability.phoneOnly.isAvailable(on: Platform.linux))
        let system = SystemInfo(availableDiskSpace: 1, availableMemory: 2, isLowPowerModeEnabled: true)
        let context = MigrationContext(
            appVersion: "2.0", deviceInfo: .current, migrationHistory: [:], userPreferences: ["a": 1],
            systemInfo: system)
        #expect(context.systemInfo.isLowPowerModeEnabled && !SystemInfo.current.isLowPowerModeEnabled)
    }

    @Test("the space of a folder that does not exist yet is that of its future parent")
    func space() {
        #expect(SystemInfo.current(at: "/tmp/not/there/yet").availableDiskSpace > 0)
        #expect(SystemInfo.current(at: "/proc/self").availableDiskSpace == 0)
    }

    @Test("a context crosses the boundary unchanged")
    func boundary() throws {
        let context = MigrationContext(
            appVersion: "2.0", dataVersion: "1.0", migrationHistory: ["a": Date(timeIntervalSince1970: 5)],
            userPreferences: ["a": [1, "x"]],
            systemInfo: SystemInfo(availableDiskSpace: 1, availableMemory: 2, isLowPowerModeEnabled: true))
        let copy = try MigrationContext(boundary: context.boundary())
        #expect(copy.systemInfo == context.systemInfo && copy.userPreferences == context.userPreferences)
        #expect(copy.migrationHistory == context.migrationHistory && copy.deviceInfo == context.deviceInfo)
    }
}
