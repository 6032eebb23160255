import FoundationEssentials
import Testing

@Suite("Secrecy of ld-host's output")
struct SecrecyTests {
    private static let value = "correct horse battery staple"
    private static let passphrase = "an elephant never forgets"

    /// A store that is sealed with a passphrase and serves the keychain.
    private static let passphraseStore = """
        -c stores.p.component=file -c 'stores.p.options.root=${data}/p' -c stores.p.sealing.source=passphrase \
        -c stores.p.sealing.from=fd:5 -c domains.keychain=p
        """

    private static let plain = [
        "ld-host --verbose set userDefaults/k '\(value)'",
        "printf '\(value)' | ld-host set userDefaults/k --stdin --verbose",
        "printf '{\"k\":\"\(value)\"}' | ld-host import userDefaults - --verbose > out",
        "ld-host set userDefaults/k '\(value)'; ld-host get userDefaults/k --verbose > out",
        "ld-host set userDefaults/k '\(value)'; ld-host get userDefaults/k --json --verbose > out",
        "ld-host set userDefaults/k '\(value)'; ld-host export userDefaults --verbose > out",
        "ld-host set userDefaults/k '\(value)'; ld-host ls --long --verbose > out",
        "ld-host set userDefaults/k '\(value)'; ld-host rm userDefaults/k --verbose",
        "ld-host set userDefaults/k '\(value)'; ld-host exists userDefaults/k --verbose",
        "mkdir -p data/localdata/values.sqlite; ld-host -v set userDefaults/k '\(value)'",
        "printf '{\"k\":\"\(value)\"' | ld-host import userDefaults - --verbose",
        "printf '{\"k\":{\"$base64\":\"\(value)\"}}' | ld-host import userDefaults - --verbose",
        "ld-host set keychain:service/k '\(value)' --verbose",
        "ld-host set userDefaults/k -- '\(value)' '\(value)' --verbose",
    ]

    /// Commands on sealed values. Those that fail do so while the sealed value or its plaintext is in memory.
    private static let sealed = ["keychain:service/k", "encryptedFileSystem/k"].flatMap { address in
        let set = "printf '\(value)' | ld-host set \(address) --stdin --verbose"
        let file =
            address.hasPrefix("keychain") ? "keychain/keychain@service/k" : "files/encryptedFileSystem@documents/k"
        return [
            set, "\(set); ld-host get \(address) --verbose > out", "\(set); ld-host get \(address) --json -v > out",
            "\(set); ld-host get --raw \(address) -v > out", "\(set); ld-host rm \(address) -v",
            // A damaged value, which does not open.
            "\(set); printf x | dd of=data/localdata/\(file) bs=1 seek=70 conv=notrunc 2> no; ld-host -v get \(address)",
            "\(set); truncate -s -1 data/localdata/\(file); ld-host -v get \(address)",
            "\(set); printf '\(value)' > data/localdata/\(file); ld-host -v get \(address)",
            "\(set); printf '\(value)' > data/localdata/\(file); ld-host -v reseal",
            // A key that is absent, wrong, or unreadable.
            "\(set); rm config/localdata/keys/*; ld-host -v get \(address)",
            "\(set); printf '%s%s' '\(value)' > config/localdata/keys/sealed-files.key; ld-host -v get \(address)",
            "\(set); printf '\(value)' > data/localdata/keychain/localdata.keys/ring; ld-host -v get \(address)",
            "\(set); chmod 644 config/localdata/keys/*; ld-host -v get \(address)",
            // Rotation.
            "\(set); ld-host -v keys rotate; ld-host -v keys rotate --store sealed-files; ld-host -v reseal",
            "\(set); ld-host -v keys list --values; ld-host -v reseal --plan; ld-host -v reseal --store sealed-files",
            // Values that cannot be stored.
            "printf '\(value)' | ld-host -c domains.keychain=memory set \(address) --stdin -v",
            "mkdir -p data/localdata; touch data/localdata/keychain; \(set)",
            "printf '\(value)' | ld-host -c encryption.provider=none set \(address) --stdin -v",
            "printf '\(passphrase)' > pass; printf '\(value)' > wrong; set -- \(passphraseStore)\n"
                + "printf '\(value)' | ld-host \"$@\" -v set \(address) --stdin 5< pass\n"
                + "ld-host \"$@\" -v get \(address) 5< pass > out; ld-host \"$@\" -v get \(address) 5< wrong\n"
                + "ld-host \"$@\" -v get \(address) 5< /dev/null; ld-host \"$@\" -v get \(address) 5<&-",
        ]
    }

    @Test("standard error never has a value, a passphrase or a key", arguments: plain + sealed)
    func noValue(_ command: String) throws {
        let home = try Home()
        let ending = try home.shell(command)
        #expect(!ending.errors.isEmpty)
        #expect(!ending.errors.contains("horse") && !ending.errors.contains("elephant"), "\(ending.errors)")
        // The keys can be read only in homes without damage.
        let keys = (try? StoredKeys(of: home))?.secrets ?? []
        for secret in [Data(Self.value.utf8), Data(Self.passphrase.utf8)] + keys {
            let hex = secret.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            for form in [secret.base64EncodedString(), hex, hex.uppercased(), "\(Array(secret))"] {
                #expect(!ending.errors.contains(form), "\(ending.errors)")
            }
        }
    }

    @Test("names are reported")
    func names() throws {
        let ending = try Home().run("--verbose", "set", "userDefaults/k", Self.value)
        #expect(ending.status == 0)
        #expect(!ending.errors.isEmpty)
    }

    @Test("no stored file contains a sealed value, its passphrase, or any key, except the key file")
    func files() throws {
        let home = try Home()
        let ending = try home.shell(
            """
            printf '\(Self.value)' | ld-host set keychain:service/k --stdin
            printf '\(Self.value)' | ld-host set encryptedFileSystem/k --stdin
            ld-host keys rotate > out; ld-host reseal > out
            printf '\(Self.passphrase)' > pass; set -- \(Self.passphraseStore)
            printf '\(Self.value)' | ld-host "$@" set keychain:service/k --stdin 5< pass || echo failed
            grep -r -e horse -e elephant data state cache config
            """)
        #expect(ending.text == "" && ending.errors == "")
        let secrets = try StoredKeys(of: home).secrets
        #expect(secrets.count == 4)
        var holders: [String] = []
        for folder in ["data", "state", "cache", "config"] {
            for path in try FileManager.default.subpathsOfDirectory(atPath: "\(home.path)/\(folder)") {
                let url = URL(filePath: "\(home.path)/\(folder)/\(path)")
                guard let data = try? Data(contentsOf: url) else { continue }
                if secrets.contains(where: { data.firstRange(of: $0) != nil }) { holders.append("\(folder)/\(path)") }
            }
        }
        #expect(holders == ["config/localdata/keys/sealed-files.key"])
    }
}
