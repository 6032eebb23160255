import FoundationEssentials
import Testing

@Suite("What --verbose tells")
struct SecrecyTests {
    private static let value = "correct horse battery staple"

    private static let commands = [
        "ld-host --verbose set userDefaults/k '\(value)'",
        "printf '\(value)' | ld-host set userDefaults/k --stdin --verbose",
        "printf '{\"k\":\"\(value)\"}' | ld-host import userDefaults - --verbose > out",
        "ld-host set userDefaults/k '\(value)'; ld-host get userDefaults/k --verbose > out",
        "ld-host set userDefaults/k '\(value)'; ld-host get userDefaults/k --json --verbose > out",
        "ld-host set userDefaults/k '\(value)'; ld-host export userDefaults --verbose > out",
        "ld-host set userDefaults/k '\(value)'; ld-host ls --long --verbose > out",
        "ld-host set userDefaults/k '\(value)'; ld-host rm userDefaults/k --verbose",
        "ld-host set userDefaults/k '\(value)'; ld-host exists userDefaults/k --verbose",
        "mkdir -p data/localdata; touch data/localdata/files; ld-host -v set userDefaults/k '\(value)'",
        "printf '{\"k\":\"\(value)\"' | ld-host import userDefaults - --verbose",
        "printf '{\"k\":{\"$base64\":\"\(value)\"}}' | ld-host import userDefaults - --verbose",
        "printf '\(value)' | ld-host set keychain:service/k --stdin --verbose",
        "ld-host set keychain:service/k '\(value)' --verbose",
        "ld-host set userDefaults/k -- '\(value)' '\(value)' --verbose",
    ]

    @Test("standard error never has a value", arguments: commands)
    func noValue(_ command: String) throws {
        let ending = try Home().shell(command)
        #expect(!ending.errors.contains("horse"))
        #expect(!ending.errors.contains(Data(Self.value.utf8).base64EncodedString()))
    }

    @Test("names are told")
    func names() throws {
        let ending = try Home().run("--verbose", "set", "userDefaults/k", Self.value)
        #expect(ending.status == 0)
        #expect(!ending.errors.isEmpty)
    }
}
