extension PluginTemplate {
    /// A small pack: one migration of each of two kinds.
    static func swiftMigration(_ name: PluginName) -> String {
        #"""
        import LocalDataAPI

        /// Brings older data to the keys of today.
        struct \#(name.text): MigrationPack {
            static let component = ComponentInfo(id: "\#(name.component)", summary: "brings the data of version 1 to version 2")

            /// In the order in which they are meant to run. An id never changes its meaning; a change of what a
            /// migration does is a new revision of it.
            let migrations = [AnyStorageMigration(ThemeMigration()), AnyStorageMigration(CacheRemoval())]

            init(options: ComponentOptions, host: HostServices) {}
        }

        /// Renames a value. The router is a transaction: nothing takes effect before `migrate` has returned success.
        struct ThemeMigration: StorageMigration {
            let destinationKey: StorageKey<String> = .theme
            let id = "theme"
            let summary = "renames oldTheme to theme"
            var sources: [AnyStorageKey] { [.key(.oldTheme)] }

            func shouldMigrate(using router: any StorageProviding, context: MigrationContext) async throws -> Bool {
                try await router.exists(.oldTheme)
            }

            func migrate(
                using router: any StorageProviding, context: MigrationContext
            ) async throws -> MigrationResult {
                try await router.set(try await router.get(.oldTheme), for: .theme)
                try await router.remove(.oldTheme)
                return MigrationResult(success: true, migratedCount: 1)
            }
        }

        /// Removes what nobody needs any more.
        struct CacheRemoval: StorageMigration {
            let destinationKey: StorageKey<String> = .cache
            let id = "no cache"
            let summary = "removes the cache"
            let effect = MigrationEffect.removes

            func shouldMigrate(using router: any StorageProviding, context: MigrationContext) async throws -> Bool {
                try await router.exists(.cache)
            }

            func migrate(
                using router: any StorageProviding, context: MigrationContext
            ) async throws -> MigrationResult {
                try await router.remove(.cache)
                return MigrationResult(success: true, migratedCount: 1)
            }
        }

        /// The keys as they were and are. A value is found by address, security and serializer together.
        extension StorageKey where Value == String {
            static let oldTheme = preference("oldTheme", "the theme under its former name")
            static let theme = preference("theme", "the theme")
            static let cache = preference("cache", "what nobody needs any more")

            private static func preference(_ name: String, _ description: String) -> StorageKey<String> {
                StorageKey(
                    name: name, domain: .userDefaults(), security: .none, owner: "\#(name.text)", description: description)
            }
        }

        """#
    }

    /// The new pack's own test.
    static func swiftMigrationTest(_ name: PluginName, hasKit: Bool) -> String {
        let kit = #"""


                @Test("keeps every promise of a migration pack")
                func conforms() async throws {
                    let report = try await MigrationConformance.run(\#(name.text).self)
                    #expect(report.failures.isEmpty, "\(report)")
                }

                @Test("brings the theme to a router's key")
                func migrates() async throws {
                    let router = try await StorageRouter.inMemory()
                    try await router.set("dark", for: .oldTheme)
                    for migration in \#(name.text)(options: ComponentOptions(), host: host).migrations {
                        try await router.registerMigration(migration)
                    }
                    #expect(try await router.get(.theme) == "dark")
                    #expect(try await !router.exists(.oldTheme))
                }
            """#
        return #"""
            import LocalDataAPI\#(hasKit ? "\nimport LocalDataHost\nimport LocalDataTesting" : "")
            import Testing

            @testable import \#(name.text)

            @Suite("\#(name.text)")
            struct \#(name.text)Tests {
                private let host = HostServices(name: "test", version: "1")

                @Test("lists its migrations by ids of their own, and each is right by its own word")
                func list() throws {
                    let migrations = \#(name.text)(options: ComponentOptions(), host: host).migrations
                    #expect(Set(migrations.map(\.id)).count == migrations.count)
                    for migration in migrations { try migration.validate() }
                }\#(hasKit ? kit : "")
            }

            """#
    }

    static func swiftMigrationReadme(_ name: PluginName) -> String {
        """
        # \(name.text)

        A migration pack for LocalData. `Sources/\(name.text)/\(name.text).swift` has the migrations; what they must uphold
        stands in the doc comments of `MigrationPack` and `StorageMigration`.

        ```sh
        swift build
        swift test                                    # its own test, and every promise of a migration pack
        ld-host plugins test .build/debug/lib\(name.text).so
        ld-host plugins inspect .build/debug/lib\(name.text).so
        export LOCALDATA_PLUGIN_PATH=$PWD/.build/debug      # where ld-host looks for plugins
        ld-host config set migrations.packs.mine.component \(name.component)
        ```

        From then on a value that is missing is brought by the pack, if it can.

        \(publishing)
        """
    }
}
