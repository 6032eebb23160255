import FoundationEssentials
import LocalDataAPI
import LocalDataHost
import LocalDataTesting
import Testing

@Suite("The samples of the seed on type chains") struct TypeChainSamplesTests {
    private func key<Storage: VaultStorable>(_ storage: Storage.Type) -> AnyStorageKey {
        AnyStorageKey(
            StorageKeyDescriptor(
                name: storage.key, domain: storage.domain, security: storage.security, serializer: .json,
                owner: "tests", description: "as an earlier program wrote it"))
    }

    /// The value that a declaration reads from what an earlier program stored.
    private func value<Storage: VaultStorable>(_ storage: Storage.Type, from old: some Encodable) async throws
        -> Storage.Value
    { try await value(storage, from: JSONEncoder().encode(old)) }

    private func value<Storage: VaultStorable>(_ storage: Storage.Type, from old: Data) async throws -> Storage.Value {
        let router = try await StorageRouter.inMemory()
        try await router.setData(old, for: key(storage))
        let stored = VaultStored(storage, router: router)
        await stored.projectedValue.initializationTask.value
        if let error = stored.projectedValue.error { throw error }
        return stored.wrappedValue
    }

    @Test("convert as they say") func values() async throws {
        #expect(
            try await value(SimpleSample.UserSettingsStorage.self, from: SimpleSample.UserSettingsV1(theme: "dark"))
                == SimpleSample.UserSettingsV2(theme: "dark", notifications: true))
        #expect(
            try await value(
                TransformationSample.Storage.self, from: TransformationSample.SettingsV1(theme: "dark", fontSize: 12))
                == TransformationSample.SettingsV2(theme: .dark, fontSize: 12))
        let profile = ChainSample.UserProfile(name: "Ada", email: "")
        #expect(
            try await value(ChainSample.UserDataStorage.self, from: ChainSample.UserDataV1(name: "Ada"))
                == ChainSample.UserDataV4(profile: profile, preferences: .default))
        #expect(
            try await value(
                ConditionalSample.Storage.self,
                from: ConditionalSample.UserSettingsV2(theme: "system", notifications: false, fontSize: nil))
                == ConditionalSample.UserSettings(theme: .auto, notifications: false, fontSize: 18))
        #expect(
            try await value(
                ConditionalSample.CarefulStorage.self,
                from: ConditionalSample.UserSettingsV2(theme: "?", notifications: false, fontSize: 100))
                == ConditionalSample.UserSettings(theme: .light, notifications: false, fontSize: 72))
        #expect(
            try await value(
                ValidationSample.Storage.self,
                from: ValidationSample.UnvalidatedData(name: "", email: " a@b \n", age: 200))
                == ValidationSample.ValidatedData(name: "Unknown", email: "a@b", age: 150))
        let flat = RestructuringSample.FlatUserDataV1(
            userName: "Ada", userEmail: "a@b", userAge: 36, settingTheme: "dark", settingNotifications: true,
            settingFontSize: 14.5)
        let nested = try await value(RestructuringSample.Storage.self, from: flat)
        #expect(nested.user.age == 36 && nested.settings.fontSize == 14.5)
        #expect(
            try await value(
                PracticeSample.UserSettingsStorage.self,
                from: Data(
                    #"{"theme":"dark","notifications":true,"fontSize":9}"#.utf8)
            ).theme == .dark)
    }

    @Test("branches lead to the current version, also from property lists") func branches() async throws {
        typealias Sample = BranchingSample
        let storage = Sample.Storage.self
        #expect(try await value(storage, from: Sample.LegacyJSONFormat(jsonData: "json")).content == "json")
        #expect(try await value(storage, from: Sample.IntermediateFormat(text: "middle")).content == "middle")
        let plist = try Serializer<Sample.LegacyPlistFormat>.plist.encode(Sample.LegacyPlistFormat(plistData: "plist"))
        #expect(try await value(storage, from: plist).content == "plist")
    }

    @Test("errors have different codes") func errors() async throws {
        func outcome(_ oldData: Data, _ migrator: DataMigrator<SimpleSample.UserSettingsV2>) async -> String {
            // Migration can fail for various reasons
            do {
                let (_, wasMigrated) = try await migrator.migrate(data: oldData)
                if wasMigrated {
                    return "Data successfully migrated"
                }
            } catch {
                // Handle migration failure
                switch error {
                case MigrationError.decodingFailed:
                    // No known version could decode the data
                    return "Data format not recognized"
                case MigrationError.pathNotFound:
                    // Missing migration path
                    return "No migration path from \(error.from ?? "")"
                case MigrationError.finalTypeMismatch:
                    // Migration chain produced wrong type
                    return "Migration chain error"
                default:
                    return "Unknown migration error: \(error)"
                }
            }
            return ""
        }
        typealias Sample = SimpleSample
        let builder = DataMigrator<Sample.UserSettingsV2>.Builder(targetType: Sample.UserSettingsV2.self)
        Sample.UserSettingsStorage.configure(builder: builder)
        builder.register(from: ChainSample.UserDataV1.self, to: ChainSample.UserDataV2.self) {
            ChainSample.UserDataV2(name: $0.name, email: "")
        }
        let migrator = try builder.build()
        #expect(await outcome(Data(#"{"theme":"dark"}"#.utf8), migrator) == "Data successfully migrated")
        #expect(await outcome(Data("[]".utf8), migrator) == "Data format not recognized")
        #expect(await outcome(Data(#"{"name":"Ada"}"#.utf8), migrator) == "No migration path from UserDataV1")
    }

    // The seed removed data that failed to migrate, and a default replaced it for good.
    @Test("a failed migration keeps the data and gives the default") func degradation() async throws {
        let router = try await StorageRouter.inMemory()
        let old = Data(#"{"name":""}"#.utf8)
        try await router.setData(old, for: key(DegradationSample.ResilientStorage.self))
        let stored = VaultStored(DegradationSample.ResilientStorage.self, router: router)
        await stored.projectedValue.initializationTask.value
        #expect(stored.wrappedValue == DegradationSample.UserData.safe)
        #expect(stored.projectedValue.error.map { MigrationError.transformationFailed ~= $0 } == true)
        // An edit does not replace the data either, until it can be converted.
        stored.wrappedValue = DegradationSample.UserData(fullName: "Ada")
        await #expect(throws: MigrationError.transformationFailed) { try await stored.projectedValue.save() }
        #expect(try await router.data(for: key(DegradationSample.ResilientStorage.self)) == old)
        #expect(try await router.quarantine.list().values.isEmpty)
    }

    // Only what no version decodes is set aside.
    @Test("data that no version reads is kept in quarantine, and the app continues with the default")
    func quarantine() async throws {
        let router = try await StorageRouter.inMemory()
        let old = Data(#"{"what":"is this"}"#.utf8)
        try await router.setData(old, for: key(DegradationSample.ResilientStorage.self))
        let stored = VaultStored(DegradationSample.ResilientStorage.self, router: router)
        await stored.projectedValue.initializationTask.value
        #expect(stored.wrappedValue == DegradationSample.UserData.safe)
        let kept = try #require(try await router.quarantine.list().values.first)
        #expect(try await router.quarantine.value(kept.id).data == old)
        stored.wrappedValue = DegradationSample.UserData(fullName: "Ada")
        try await stored.projectedValue.save()
        #expect(try await router.quarantine.list().values.count == 1)
    }

    @Test("unit test of a migration") func userSettingsMigration() async throws {
        typealias UserSettingsV1 = SimpleSample.UserSettingsV1
        typealias UserSettingsV2 = SimpleSample.UserSettingsV2
        // Create old format data
        let oldSettings = UserSettingsV1(theme: "dark")
        let oldData = try JSONEncoder().encode(oldSettings)

        // Create migrator
        let builder = DataMigrator<UserSettingsV2>.Builder(targetType: UserSettingsV2.self)
        builder.register(from: UserSettingsV1.self, to: UserSettingsV2.self) { v1 in
            UserSettingsV2(theme: v1.theme, notifications: true)
        }
        let migrator = try builder.build()

        // Test migration
        let (migratedData, wasMigrated) = try await migrator.migrate(data: oldData)
        #expect(wasMigrated)

        let newSettings = try JSONDecoder().decode(UserSettingsV2.self, from: migratedData)
        #expect(newSettings.theme == "dark")
        #expect(newSettings.notifications)
    }

    @Test("unit test of a chain") func chainMigration() async throws {
        typealias UserDataV1 = ChainSample.UserDataV1
        typealias UserDataV2 = ChainSample.UserDataV2
        typealias UserDataV3 = ChainSample.UserDataV3
        // Test multi-step migration
        let v1Data = UserDataV1(name: "John")
        let v1Encoded = try JSONEncoder().encode(v1Data)

        let builder = DataMigrator<UserDataV3>.Builder(targetType: UserDataV3.self)
        builder
            .register(from: UserDataV1.self, to: UserDataV2.self) { v1 in
                UserDataV2(name: v1.name, email: "")
            }
            .register(from: UserDataV2.self, to: UserDataV3.self) { v2 in
                UserDataV3(name: v2.name, email: v2.email, preferences: [:])
            }

        let migrator = try builder.build()
        let (migratedData, wasMigrated) = try await migrator.migrate(data: v1Encoded)

        #expect(wasMigrated)
        let v3Data = try JSONDecoder().decode(UserDataV3.self, from: migratedData)
        #expect(v3Data.name == "John")
        #expect(v3Data.email == "")
        #expect(v3Data.preferences.isEmpty)
    }

    @Test("integration test of a stored value") func vaultStoredMigration() async throws {
        typealias UserSettingsV1 = SimpleSample.UserSettingsV1
        typealias UserSettingsV2 = SimpleSample.UserSettingsV2
        func createMigrator() throws -> DataMigrator<UserSettingsV2> {
            let builder = DataMigrator<UserSettingsV2>.Builder(targetType: UserSettingsV2.self)
            SimpleSample.UserSettingsStorage.configure(builder: builder)
            return try builder.build()
        }
        // Create a service in memory with old data
        let service = try await StorageRouter.inMemory()
        let oldData = UserSettingsV1(theme: "light")
        let encodedOldData = try JSONEncoder().encode(oldData)
        let test = AnyStorageKey(
            StorageKeyDescriptor(name: "test", domain: .userDefaults(), owner: "tests", description: "old data"))
        try await service.setData(encodedOldData, for: test)

        // Create storage with migration
        let storage = VaultDataStorage<UserSettingsV2>(
            key: "test",
            defaultValue: UserSettingsV2(theme: "default", notifications: false),
            service: service,
            migrator: try createMigrator(),
            encoder: JSONEncoder(),
            decoder: JSONDecoder()
        )

        // Wait for initialization and migration
        await storage.initializationTask.value

        // Verify migration occurred
        #expect(storage.value.theme == "light")
        #expect(storage.value.notifications)  // Default value from migration
        #expect(try await service.attributes(of: test)?.versionTag == "UserSettingsV2")
    }

    @Test("a chain that contradicts itself is reported, and nothing is lost") func contradiction() async throws {
        struct Contradiction: VaultStorable {
            static let defaultValue = SimpleSample.UserSettingsV2(theme: "light", notifications: true)
            static func configure(builder: DataMigrator<SimpleSample.UserSettingsV2>.Builder) {
                for _ in 0..<2 { SimpleSample.UserSettingsStorage.configure(builder: builder) }
            }
        }
        let router = try await StorageRouter.inMemory()
        let old = Data(#"{"theme":"dark"}"#.utf8)
        try await router.setData(old, for: key(Contradiction.self))
        let stored = VaultStored(Contradiction.self, router: router)
        await stored.projectedValue.initializationTask.value
        #expect(stored.projectedValue.error.map { MigrationError.duplicateConverter ~= $0 } == true)
        stored.wrappedValue = SimpleSample.UserSettingsV2(theme: "set", notifications: false)
        #expect(stored.wrappedValue.theme == "set")
        await #expect(throws: MigrationError.duplicateConverter) { try await stored.projectedValue.save() }
        #expect(try await router.data(for: key(Contradiction.self)) == old)
    }
}
