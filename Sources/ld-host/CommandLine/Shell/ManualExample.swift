/// What a person does with the commands of a group, for its page of the manual.
struct ManualExample: Sendable {
    /// Of what it is an example, as a heading.
    let task: String
    /// Lines for a shell. They follow those of the earlier examples.
    let lines: String

    /// The examples of each page, by its end: in the order of the pages, they can be typed one after the other.
    static let all: [String: [ManualExample]] = [
        "ld-host": [
            ManualExample(
                task: "Store a value, list what there is, and see which store has it and why:",
                lines: """
                    ld-host set userDefaults/theme light
                    ld-host ls
                    ld-host config get domains.userDefaults --origin
                    """)
        ],
        ManualPage.settings: [
            ManualExample(
                task: "Keep the values of a domain of one's own in a folder of its own, and log only errors:",
                lines: """
                    {
                      stores: { notes: { component: "file", options: { root: "${data}/notes" } } },
                      domains: { notes: "notes" },  // as in: ld-host set notes/first hello
                      log: { level: "error" },
                    }
                    """)
        ],
        "values": [
            ManualExample(
                task: "Set a preference, and read it:",
                lines: """
                    ld-host set userDefaults/theme dark
                    ld-host get userDefaults/theme
                    """),
            ManualExample(
                task: "Store a secret that no other program sees among the arguments:",
                lines: "printf s3cret | ld-host set keychain:com.example/token --stdin"),
            ManualExample(
                task: "Store a value for an hour, and see when it expires:",
                lines: """
                    ld-host set --expires 1h fileSystem/session 42
                    ld-host ls -l fileSystem
                    """),
            ManualExample(
                task: "Give a value another name; an app that reads the old one needs a migration:",
                lines: """
                    ld-host cp userDefaults/theme userDefaults/theme.before
                    ld-host mv userDefaults/theme.before userDefaults/theme.old
                    """),
            ManualExample(
                task: "Take values elsewhere as JSON:",
                lines: """
                    ld-host export userDefaults > values.json
                    ld-host import values.json
                    """),
            ManualExample(
                task: "See what would be removed of a scope, and remove it:",
                lines: """
                    ld-host rm --recursive --plan fileSystem:documents
                    ld-host rm --recursive fileSystem:documents
                    """),
        ],
        "config": [
            ManualExample(
                task: "Have another store serve a domain; ld-host-store(1) says how its values get there:",
                lines: """
                    ld-host config set domains.cache file
                    ld-host config get domains.cache --origin
                    """),
            ManualExample(
                task: "See all that is in effect, and where it comes from:", lines: "ld-host config show --origin"),
            ManualExample(task: "Return to the default:", lines: "ld-host config unset domains.cache"),
        ],
        "check": [
            ManualExample(
                task: "See which plugin serves which domain, and read every value:", lines: "ld-host doctor -v --scrub"),
            ManualExample(
                task: "Write a page on all keys and how they are protected:", lines: "ld-host audit --html audit.html"),
        ],
        "backup": [
            ManualExample(
                task: "Back up without a person, with the passphrase from a file, as cron(8) does:",
                lines: """
                    ld-host backup home.backup --overwrite --passphrase-fd 3 3< passphrase
                    """),
            ManualExample(
                task: "See what a restore would change, and restore:",
                lines: """
                    ld-host restore home.backup --plan --passphrase-fd 3 3< passphrase
                    ld-host restore home.backup --passphrase-fd 3 3< passphrase
                    """),
        ],
        "store": [
            ManualExample(
                task: "Replace the store of a domain while other programs read it:",
                lines: """
                    ld-host store copy sqlite file --domain userDefaults
                    ld-host config set domains.userDefaults file
                    ld-host store copy sqlite file --domain userDefaults --move
                    """)
        ],
        "keys": [
            ManualExample(
                task: "Begin a new key, and encrypt all values with it:",
                lines: """
                    ld-host keys rotate
                    ld-host reseal --plan
                    ld-host reseal
                    ld-host keys list
                    """),
            ManualExample(
                task: "Change the passphrase or the key file of a store, by a new store; for a passphrase, give the "
                    + "source passphrase:",
                lines: #"""
                    ld-host config set stores.vault '{"component": "file", "options": {"root": "${data}/vault"}, "sealing": {"source": "keyFile"}}'
                    ld-host store copy sealed-files vault
                    ld-host config set domains.keychain vault
                    ld-host store copy sealed-files vault --move
                    """#),
        ],
        "migrate": [
            ManualExample(
                task: "See what migrations would do, run them, and see what they did:",
                lines: """
                    ld-host migrate plan
                    ld-host migrate run
                    ld-host migrate history
                    """)
        ],
        "sync": [
            ManualExample(
                task: "Begin a group of devices that share a folder, and invite another device:",
                lines: """
                    ld-host config set sync.options.folder "$HOME/Sync"
                    ld-host config set sync.transport folder
                    ld-host sync init --name desk
                    ld-host sync invite --to code
                    """),
            ManualExample(
                task: "See the devices, and whether all is there:",
                lines: """
                    ld-host sync devices
                    ld-host sync status
                    """),
        ],
        "plugins": [
            ManualExample(
                task: "See what is installed, and the options of a component:",
                lines: """
                    ld-host plugins list
                    ld-host plugins inspect sqlite
                    """),
            ManualExample(task: "Begin a plugin of your own:", lines: "ld-host plugins new MyStore"),
        ],
        "serve": [
            ManualExample(
                task: "Have git keep its passwords here:",
                lines: "git config --global credential.helper localdata"),
            ManualExample(
                task: "Ask as git does:",
                lines: #"printf 'protocol=https\nhost=example.com\n\n' | ld-host credential git get"#),
        ],
        "learn": [
            ManualExample(
                task: "Find a command:",
                lines: """
                    ld-host help
                    ld-host help keys
                    ld-host help keys rotate
                    """)
        ],
    ]
}
