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
        \(servingCrypto(name, folder: "$PWD"))
        ```

        What one provider has sealed any other opens that has the algorithm.

        """
    }
}
