extension PluginTemplate {
    /// A storage plugin in Swift that depends on a checkout of LocalData.
    static func swift(_ name: PluginName, checkout: Checkout) -> PluginTemplate {
        PluginTemplate(files: [
            "Package.swift": swiftManifest(name, checkout),
            "Sources/\(name.text)/\(name.text).swift": swiftStore(name),
            "Sources/\(name.text)/\(name.text)Plugin.swift": swiftEntry(name),
            "Tests/\(name.text)Tests/\(name.text)Tests.swift": swiftTest(name, hasKit: checkout.hasKit),
            "README.md": swiftReadme(name),
            ".gitignore": ".build/\n",
        ])
    }

    private static func swiftManifest(_ name: PluginName, _ checkout: Checkout) -> String {
        let api = #".product(name: "LocalDataAPI", package: "LocalData")"#
        let kit = #".product(name: "LocalDataTesting", package: "LocalData")"#
        let tested = [#""\#(name.text)""#, api] + (checkout.hasKit ? [kit] : [])
        return """
            // swift-tools-version: 6.2
            import PackageDescription

            let package = Package(
                name: "\(name.text)",
                products: [.library(name: "\(name.text)", type: .dynamic, targets: ["\(name.text)"])],
                dependencies: [.package(name: "LocalData", path: \(literal(checkout.path)))],
                targets: [
                    .target(name: "\(name.text)", dependencies: [\(api)]),
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

    private static func swiftEntry(_ name: PluginName) -> String {
        """
        import LocalDataAPI

        /// The plugin's entry: what a host calls first, and the only symbol that it looks for.
        @c(localdata_plugin_v1)
        public func plugin() -> UnsafeRawPointer {
            Plugin.export("\(name.text)", version: "0.1.0", .storage(\(name.text).self))
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

        """
    }

    /// A Swift string literal.
    private static func literal(_ text: String) -> String {
        let escaped = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
        return "\"\(escaped)\""
    }
}
