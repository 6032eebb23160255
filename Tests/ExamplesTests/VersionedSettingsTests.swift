import FoundationEssentials
import LocalDataHost
import TestSupport
import Testing

@Suite("The example of versioned settings")
struct VersionedSettingsTests {
    @Test("migrates the values of version 1, and keeps values that were set later") func upgrade() throws {
        let example = try BuiltExample("VersionedSettings")
        defer { example.remove() }
        let program = "\(example.products)/VersionedSettings"
        let fresh = try example.run(program)
        #expect(
            fresh == """
                profile: guest
                the same: guest
                settings: guest, light, every 60 minutes

                """)
        for folder in ["home", "config"] { try? FileManager.default.removeItem(atPath: "\(example.folder)/\(folder)") }

        _ = try example.run(program, "1")
        for theme in ["light", "dark"] {
            let text = try example.run(program)
            #expect(
                text == """
                    profile: Ada
                    the same: Ada
                    settings: ada, \(theme), every 120 minutes

                    """)
        }
        let profile = try example.run(BuiltProducts.host, "--app", "VersionedSettings", "get", "userDefaults/profile")
        #expect(profile == #"{"fullName":"Ada"}"#)
        let attributes = try example.run(BuiltProducts.host, "get", "userDefaults:VersionedSettings/profile", "--json")
        #expect(attributes.contains(#""versionTag" : "3""#), "\(attributes)")
        let names = try example.run(BuiltProducts.host, "--app", "VersionedSettings", "ls").split(separator: "\n")
        #expect(
            names == [
                "userDefaults/MyApp.AppSettings.__version", "userDefaults/MyApp.AppSettings.interval",
                "userDefaults/MyApp.AppSettings.username", "userDefaults/MyApp.colour_theme", "userDefaults/profile",
            ])
        let history = try example.run(BuiltProducts.host, "migrate", "history")
        #expect(history.contains("versions of userDefaults/profile"), "\(history)")
    }
}
