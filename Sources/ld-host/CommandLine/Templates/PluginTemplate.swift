internal import FoundationEssentials
internal import Glibc
internal import LocalDataAPI

/// The files of a new plugin's package.
struct PluginTemplate: Sendable {
    /// By path inside the package's folder.
    let files: [String: String]

    /// Makes the folder with all the files, or nothing.
    ///
    /// The folder is made under another name and moved when it is complete, and the move succeeds only if there is
    /// nothing, or an empty folder, in its place (rename(2)).
    /// - Throws: `fileError` naming the folder.
    func write(to folder: String) throws(StorageError) {
        guard isFree(folder) else {
            throw StorageError(
                .fileError, "'\(folder)' is there already and is not an empty folder; nothing was written",
                hint: "choose another name, or remove '\(folder)'")
        }
        var template = Array(".\(folder).XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Self.failure("no folder can be made here") }
        let draft = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
        do {
            try fill(draft)
            guard rename(draft, folder) == 0 else { throw Self.failure("'\(folder)' cannot be made") }
        } catch {
            try? FileManager.default.removeItem(atPath: draft)
            throw (error as? StorageError) ?? StorageError(.fileError, "'\(folder)' cannot be written: \(error)")
        }
    }

    private func fill(_ draft: String) throws {
        // mkdtemp(3) makes a folder for its owner alone; a package is as open as the user's other new folders.
        let mask = umask(0)
        umask(mask)
        guard chmod(draft, 0o777 & ~mask) == 0 else { throw Self.failure("'\(draft)' cannot be opened to others") }
        for (path, text) in files {
            let file = "\(draft)/\(path)"
            let parent = String(file[..<(file.lastIndex(of: "/") ?? file.endIndex)])
            try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
            try Data(text.utf8).write(to: URL(filePath: file), options: .withoutOverwriting)
        }
    }

    private func isFree(_ folder: String) -> Bool {
        var status = stat()
        guard lstat(folder, &status) == 0 else { return true }
        guard status.st_mode & S_IFMT == S_IFDIR else { return false }
        return (try? FileManager.default.contentsOfDirectory(atPath: folder))?.isEmpty ?? false
    }

    private static func failure(_ what: String) -> StorageError {
        let reason = String(cString: strerror(errno))
        return StorageError(.fileError, "\(what): \(reason)", hint: "run it in a folder that you can write to")
    }
}

extension PluginTemplate {
    /// A storage plugin in C: the C example under another name, and the header, which is all that it needs.
    static func cStore(_ name: PluginName) -> PluginTemplate {
        c(
            name, example: ("CBackend", "c-backend"), source: EmbeddedText.cStore, test: EmbeddedText.cTest,
            makefile: EmbeddedText.cMakefile, ignored: EmbeddedText.cIgnored, readme: cStoreReadme(name))
    }

    /// A crypto plugin in C: the example of one under another name, and the header; it needs libsodium besides.
    static func cCrypto(_ name: PluginName) -> PluginTemplate {
        c(
            name, example: ("CCrypto", "c-crypto"), source: EmbeddedText.cCrypto, test: EmbeddedText.cCryptoTest,
            makefile: EmbeddedText.cCryptoMakefile, ignored: EmbeddedText.cCryptoIgnored, readme: cCryptoReadme(name))
    }

    /// A migration pack in C: the example of one under another name, and the header, which is all that it needs.
    static func cMigration(_ name: PluginName) -> PluginTemplate {
        c(
            name, example: ("CMigration", "c-migration"), source: EmbeddedText.cMigration,
            test: EmbeddedText.cMigrationTest, makefile: EmbeddedText.cMigrationMakefile,
            ignored: EmbeddedText.cMigrationIgnored, readme: cMigrationReadme(name))
    }

    /// A sync transport in C: the example of one under another name, and the header, which is all that it needs.
    static func cSync(_ name: PluginName) -> PluginTemplate {
        c(
            name, example: ("CSync", "c-sync"), source: EmbeddedText.cSync, test: EmbeddedText.cSyncTest,
            makefile: EmbeddedText.cSyncMakefile, ignored: EmbeddedText.cSyncIgnored, readme: cSyncReadme(name))
    }

    private static func c(
        _ name: PluginName, example: (name: String, component: String), source: String, test: String, makefile: String,
        ignored: String, readme: String
    ) -> PluginTemplate {
        func named(_ text: String) -> String {
            text.replacing(example.name, with: name.text).replacing(example.component, with: name.component)
                .replacing(example.name.lowercased(), with: name.lowercase)
                .replacing("../../Sources/LocalDataAPI/CLocalData/include", with: ".")
        }
        return PluginTemplate(files: [
            "\(name.lowercase).c": named(source),
            "test.c": named(test),
            "Makefile": named(makefile),
            ".gitignore": named(ignored),
            "localdata/plugin.h": EmbeddedText.header,
            "README.md": readme,
        ])
    }

    private static func cStoreReadme(_ name: PluginName) -> String {
        """
        # \(name.text)

        A storage plugin for LocalData in C. `\(name.lowercase).c` is all of it; `localdata/plugin.h` says what each
        function owes to its caller. `test.c` is its own test.

        ```sh
        make                                          # lib\(name.text).so; nothing of Swift is in it
        make test                                     # its own test, then every promise of a store
        ld-host plugins inspect ./lib\(name.text).so
        export LOCALDATA_PLUGIN_PATH=$PWD             # where ld-host looks for plugins
        ld-host config set domains.userDefaults \(name.component)
        ld-host set userDefaults/theme dark
        ```

        It keeps values in memory, so a value is gone when the process that stored it ends: an app reads back what it
        wrote, two runs of `ld-host` do not.

        """
    }

    private static func cMigrationReadme(_ name: PluginName) -> String {
        """
        # \(name.text)

        A migration pack for LocalData in C. `\(name.lowercase).c` is all of it; `localdata/plugin.h` says what each
        function owes to its caller. `test.c` is its own test.

        ```sh
        make                                          # lib\(name.text).so; nothing of Swift is in it
        make test                                     # its own test, then every promise of a migration pack
        ld-host plugins inspect ./lib\(name.text).so
        export LOCALDATA_PLUGIN_PATH=$PWD             # where ld-host looks for plugins
        ld-host config set migrations.packs.mine.component \(name.component)
        ```

        From then on a value that is missing is brought by the pack, if it can.

        """
    }

    private static func cSyncReadme(_ name: PluginName) -> String {
        """
        # \(name.text)

        A sync transport for LocalData in C. `\(name.lowercase).c` is all of it; `localdata/plugin.h` says what each
        function owes to its caller. `test.c` is its own test.

        ```sh
        make                                          # lib\(name.text).so; nothing of Swift is in it
        make test                                     # its own test, then every promise of a sync transport
        ld-host plugins inspect ./lib\(name.text).so
        export LOCALDATA_PLUGIN_PATH=$PWD             # where ld-host looks for plugins
        ld-host config set sync.transport \(name.component)
        ```

        Its log becomes longer with each change: a folder with many changes needs a transport that clears up.

        """
    }

    private static func cCryptoReadme(_ name: PluginName) -> String {
        """
        # \(name.text)

        A crypto plugin for LocalData in C: ChaCha20-Poly1305, HKDF-SHA256 and random bytes by libsodium (Debian:
        libsodium-dev, pkg-config). `\(name.lowercase).c` is all of it; `localdata/plugin.h` says what each function owes
        to its caller. `test.c` is its own test.

        ```sh
        make                                          # lib\(name.text).so; nothing of Swift is in it
        make test                                     # its own test, then every promise of a crypto provider
        ld-host plugins inspect ./lib\(name.text).so
        export LOCALDATA_PLUGIN_PATH=$PWD              # where ld-host looks for plugins
        \(servingCrypto(name))
        ```

        What one provider has sealed any other opens that has the algorithm.

        """
    }
}

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
        export LOCALDATA_PLUGIN_PATH=$(swift build --show-bin-path)  # where ld-host looks for plugins
        ld-host plugins test $LOCALDATA_PLUGIN_PATH/lib\(name.text).so
        ld-host plugins inspect $LOCALDATA_PLUGIN_PATH/lib\(name.text).so
        ld-host config set migrations.packs.mine.component \(name.component)
        ```

        From then on a value that is missing is brought by the pack, if it can.

        \(publishing)
        """
    }
}
