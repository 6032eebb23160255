extension PluginTemplate {
    /// A storage plugin in Swift that depends on a checkout of LocalData.
    static func swiftStore(_ name: PluginName, checkout: Checkout) -> PluginTemplate {
        swift(
            name, checkout, component: "storage", source: swiftStore(name),
            test: swiftTest(name, hasKit: checkout.hasKit), readme: swiftReadme(name))
    }

    /// A crypto plugin in Swift that depends on a checkout of LocalData, and on libsodium.
    static func swiftCrypto(_ name: PluginName, checkout: Checkout) -> PluginTemplate {
        let package = swift(
            name, checkout, component: "crypto", library: sodium, source: swiftCrypto(name),
            test: swiftCryptoTest(name, hasKit: checkout.hasKit), readme: swiftCryptoReadme(name))
        return PluginTemplate(files: package.files.merging(sodiumFiles) { $1 })
    }

    /// A migration pack in Swift that depends on a checkout of LocalData.
    static func swiftMigration(_ name: PluginName, checkout: Checkout) -> PluginTemplate {
        swift(
            name, checkout, component: "migrations", needsHost: true, source: swiftMigration(name),
            test: swiftMigrationTest(name, hasKit: checkout.hasKit), readme: swiftMigrationReadme(name))
    }

    private static func swift(
        _ name: PluginName, _ checkout: Checkout, component: String, library: SystemLibrary? = nil,
        needsHost: Bool = false, source: String, test: String, readme: String
    ) -> PluginTemplate {
        PluginTemplate(files: [
            "Package.swift": swiftManifest(name, checkout, library, testsHost: needsHost),
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
        _ name: PluginName, _ checkout: Checkout, _ library: SystemLibrary?, testsHost: Bool
    ) -> String {
        let api = #".product(name: "LocalDataAPI", package: "LocalData")"#
        let kit = #".product(name: "LocalDataTesting", package: "LocalData")"#
        let host = #".product(name: "LocalDataHost", package: "LocalData")"#
        let tested = [#""\#(name.text)""#, api] + (checkout.hasKit ? [kit] + (testsHost ? [host] : []) : [])
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
                // This folder is on your machine. Before you publish the package, depend on LocalData's repository:
                // .package(url: "https://example.com/LocalData.git", branch: "main")
                dependencies: [.package(name: "LocalData", path: \(literal(checkout.path)))],
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
        ld-host plugins test .build/debug/lib\(name.text).so
        ld-host plugins inspect .build/debug/lib\(name.text).so
        export LOCALDATA_PLUGIN_PATH=$PWD/.build/debug      # where ld-host looks for plugins
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
        ld-host plugins test .build/debug/lib\(name.text).so
        ld-host plugins inspect .build/debug/lib\(name.text).so
        \(servingCrypto(name, folder: "$PWD/.build/debug"))
        ```

        What one provider has sealed any other opens that has the algorithm.

        \(publishing)
        """
    }

    /// The commands that have a crypto provider compute everything.
    static func servingCrypto(_ name: PluginName, folder: String) -> String {
        """
        export LOCALDATA_PLUGIN_PATH=\(folder)      # where ld-host looks for plugins
        ld-host config set encryption.provider \(name.component)
        echo secret | ld-host set encryptedFileSystem/diary --stdin
        """
    }

    /// What a README says of giving a package in Swift to others.
    static let publishing = """
        `Package.swift` depends on LocalData in a folder of this machine. Before you publish the package, have it depend on
        LocalData's repository, by the line that stands beside it there.

        """

    /// A Swift string literal.
    private static func literal(_ text: String) -> String {
        let escaped = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
        return "\"\(escaped)\""
    }
}
