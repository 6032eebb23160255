extension PluginTemplate {
    /// A storage plugin in C: the C example under another name, and the header, which is all that it needs.
    static func c(_ name: PluginName) -> PluginTemplate {
        func named(_ text: String) -> String {
            text.replacing("CBackend", with: name.text).replacing("c-backend", with: name.component)
                .replacing("cbackend", with: name.lowercase)
                .replacing("../../Sources/LocalDataAPI/CLocalData/include", with: ".")
        }
        return PluginTemplate(files: [
            "\(name.lowercase).c": named(EmbeddedText.cStore),
            "test.c": named(EmbeddedText.cTest),
            "Makefile": named(EmbeddedText.cMakefile),
            ".gitignore": named(EmbeddedText.cIgnored),
            "localdata/plugin.h": EmbeddedText.header,
            "README.md": cReadme(name),
        ])
    }

    private static func cReadme(_ name: PluginName) -> String {
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
}
