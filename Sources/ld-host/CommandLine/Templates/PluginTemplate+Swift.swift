extension PluginTemplate {
    /// A storage plugin in Swift that depends on LocalData's package.
    static func swiftStore(_ name: PluginName, localData: PackageSource) -> PluginTemplate {
        swift(
            name, localData, component: "storage", source: swiftStore(name),
            test: swiftTest(name, hasKit: localData.hasKit), readme: swiftReadme(name))
    }

    /// A crypto plugin in Swift that depends on LocalData's package, and on libsodium.
    static func swiftCrypto(_ name: PluginName, localData: PackageSource) -> PluginTemplate {
        let package = swift(
            name, localData, component: "crypto", library: sodium, source: swiftCrypto(name),
            test: swiftCryptoTest(name, hasKit: localData.hasKit), readme: swiftCryptoReadme(name))
        return PluginTemplate(files: package.files.merging(sodiumFiles) { $1 })
    }

    /// A migration pack in Swift that depends on LocalData's package.
    static func swiftMigration(_ name: PluginName, localData: PackageSource) -> PluginTemplate {
        swift(
            name, localData, component: "migrations", needsHost: true, source: swiftMigration(name),
            test: swiftMigrationTest(name, hasKit: localData.hasKit), readme: swiftMigrationReadme(name))
    }

    static func swift(
        _ name: PluginName, _ localData: PackageSource, component: String, library: SystemLibrary? = nil,
        needsHost: Bool = false, source: String, test: String, readme: String
    ) -> PluginTemplate {
        PluginTemplate(files: [
            "Package.swift": swiftManifest(name, localData, library, testsHost: needsHost),
            "Sources/\(name.text)/\(name.text).swift": source,
            "Sources/\(name.text)/\(name.text)Plugin.swift": swiftEntry(name, component),
            "Tests/\(name.text)Tests/\(name.text)Tests.swift": test,
            "README.md": readme,
            ".gitignore": ".build/\n",
        ])
    }

    /// A library of the system that a plugin wraps: the module that imports it, and where it comes from.
    struct SystemLibrary {
        let module: String
        let pkgConfig: String
        let debianPackage: String
    }

    private static func swiftManifest(
        _ name: PluginName, _ localData: PackageSource, _ library: SystemLibrary?, testsHost: Bool
    ) -> String {
        let api = #".product(name: "LocalDataAPI", package: "LocalData")"#
        let kit = #".product(name: "LocalDataTesting", package: "LocalData")"#
        let host = #".product(name: "LocalDataHost", package: "LocalData")"#
        let tested = [#""\#(name.text)""#, api] + (localData.hasKit ? [kit] + (testsHost ? [host] : []) : [])
        let needed = [api] + (library.map { ["\"\($0.module)\""] } ?? [])
        let system = library.map {
            #".systemLibrary(name: "\#($0.module)", pkgConfig: "\#($0.pkgConfig)", providers: [.apt(["\#($0.debianPackage)"])])"#
        }
        return """
            // swift-tools-version: 6.3
            import PackageDescription

            let package = Package(
                name: "\(name.text)",
                products: [.library(name: "\(name.text)", type: .dynamic, targets: ["\(name.text)"])],
                \(localData.dependency.replacing("\n", with: "\n    "))
                targets: [
                    \(system.map { "\($0),\n        " } ?? "").target(name: "\(name.text)", dependencies: [\(needed.joined(separator: ", "))]),
                    .testTarget(
                        name: "\(name.text)Tests",
                        dependencies: [
                            \(tested.joined(separator: ",\n                "))
                        ]
                    ),
                ]
            )

            """
    }

    private static func swiftEntry(_ name: PluginName, _ component: String) -> String {
        """
        import LocalDataAPI

        /// The plugin's entry: what a host calls first, and the only symbol that it looks for.
        @c(localdata_plugin_v1)
        public func plugin() -> UnsafeRawPointer {
            Plugin.export("\(name.text)", version: "0.1.0", .\(component)(\(name.text).self))
        }

        """
    }

    private static func swiftReadme(_ name: PluginName) -> String {
        """
        # \(name.text)

        A storage plugin for LocalData. `Sources/\(name.text)/\(name.text).swift` is the store; what it must uphold
        stands in the doc comment of `StorageBackend`.

        ```sh
        swift build
        swift test                                    # its own test, and every promise of a store
        export LOCALDATA_PLUGIN_PATH=$(swift build --show-bin-path)  # where ld-host looks for plugins
        ld-host plugins test $LOCALDATA_PLUGIN_PATH/lib\(name.text).so
        ld-host plugins inspect $LOCALDATA_PLUGIN_PATH/lib\(name.text).so
        ld-host config set domains.userDefaults \(name.component)
        ld-host set userDefaults/theme dark
        ld-host get userDefaults/theme
        ```

        The store serves whatever domain the configuration maps to it: `domains.userDefaults`, `domains.fileSystem`, or
        one of your own, such as `domains.cache`.

        \(publishing)
        """
    }

    private static func swiftCryptoReadme(_ name: PluginName) -> String {
        """
        # \(name.text)

        A crypto plugin for LocalData: ChaCha20-Poly1305, HKDF-SHA256 and random bytes by libsodium (Debian:
        libsodium-dev). `Sources/\(name.text)/\(name.text).swift` is the provider; what it must uphold stands in the doc
        comment of `CryptoProvider`.

        ```sh
        swift build
        swift test                                    # its own test, and every promise of a crypto provider
        export LOCALDATA_PLUGIN_PATH=$(swift build --show-bin-path)  # where ld-host looks for plugins
        ld-host plugins test $LOCALDATA_PLUGIN_PATH/lib\(name.text).so
        ld-host plugins inspect $LOCALDATA_PLUGIN_PATH/lib\(name.text).so
        \(servingCrypto(name))
        ```

        What one provider has sealed any other opens that has the algorithm.

        \(publishing)
        """
    }

    /// The commands that have a crypto provider compute everything.
    static func servingCrypto(_ name: PluginName) -> String {
        """
        ld-host config set encryption.provider \(name.component)
        echo secret | ld-host set encryptedFileSystem/diary --stdin
        """
    }

    /// What a README says of giving a package in Swift to others.
    static let publishing = """
        `Package.swift` depends on LocalData in a folder of this machine. Before you publish the package, have it depend on
        LocalData's repository, by the line that stands beside it there.

        """
}
