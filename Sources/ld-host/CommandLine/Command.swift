/// One command, as a value: its grammar, its help, and what it does.
struct Command: Sendable {
    /// An option of a command.
    struct Option: Sendable {
        /// With its dashes: `--json`.
        let name: String
        /// One letter with its dash, if there is one.
        var short: String?
        /// The placeholder of its value in help; `nil` for a flag.
        var value: String?
        let help: String
    }

    /// One to three words: `get`, `config set`.
    let name: String
    /// The operands after the name, e.g. `ADDRESS [VALUE]`.
    var operands = ""
    /// How many operands there may be.
    var count: ClosedRange<Int> = 0...0
    let summary: String
    /// More help, if the summary does not say it all.
    var details = ""
    var options: [Option] = []
    /// Whether it takes something away that another command does not give back.
    var removes = false
    let run: @Sendable (Arguments, Session) async throws -> ExitStatus

    /// The options that every command takes.
    static let common = [
        Option(name: "--config", value: "FILE", help: "read FILE in addition to the other configuration files"),
        Option(
            name: "--app", value: "ID",
            help: "let addresses without a suite or folder mean the data of the app ID; see: ld-host ls --apps"),
        Option(name: "-c", value: "KEY=VALUE", help: "set one configuration value for this run; may be repeated"),
        Option(name: "--verbose", short: "-v", help: "print each step to standard error: names, never values"),
        Option(name: "--help", short: "-h", help: "show help and end"),
    ]

    static let json = Option(name: "--json", help: "print JSON")

    /// The commands for one task.
    struct Group: Sendable {
        let task: String
        /// The end of the name of its manual page.
        let page: String
        let commands: [Command]
    }

    /// Every command by its task, in the order of the help.
    static let groups: [Group] = [
        Group(
            task: "Read and write values", page: "values",
            commands: [.set, .get, .move, .copy, .remove, .exists, .list, .batch, .watch, .importValues, .exportValues]),
        Group(
            task: "Configure", page: "config",
            commands: [
                .initialize, .configShow, .configGet, .configSet, .configUnset, .configEdit, .configValidate,
                .configPath,
            ]),
        Group(task: "Check", page: "check", commands: [.doctor, .audit]),
        Group(task: "Back up", page: "backup", commands: [.backup, .restore]),
        Group(task: "Replace a store", page: "store", commands: [.storeSwitch, .storeCopy, .storeForget, .storeTest]),
        Group(
            task: "Manage encryption keys", page: "keys",
            commands: [
                .keysList, .keysCreate, .keysRotate, .reseal, .keysRetire, .keysDisable, .keysEnable, .keysForget,
                .keysAdopt, .keysDisown, .envelopeInspect,
            ]),
        Group(
            task: "Migrate older data", page: "migrate",
            commands: [
                .migratePlan, .migrateRun, .migrateStatus, .migrateHistory, .migrateRollback, .migrateConfirm,
                .migrateResume, .migrateLedgerRepair, .containerDiff, .containerCheck, .quarantineList, .quarantineShow,
                .quarantineRestore, .quarantineDrop,
            ]),
        Group(
            task: "Sync devices", page: "sync",
            commands: [
                .syncInit, .syncInvite, .syncJoin, .syncStatus, .syncPush, .syncPull, .syncWatch, .syncDevices,
                .syncRemove, .syncConflicts, .syncShow, .syncRestore, .syncAccept, .syncLeave,
            ]),
        Group(
            task: "Find and write plugins", page: "plugins",
            commands: [.pluginsList, .pluginsInspect, .pluginsTest, .pluginsVectors, .pluginsNew]),
        Group(task: "Serve other programs", page: "serve", commands: [.credentialGit, .credentialDocker, .pipe]),
        Group(task: "Learn", page: "learn", commands: [.help, .man, .completions, .demo, .version]),
    ]

    /// Every command, in the order of the help.
    static let all: [Command] = groups.flatMap(\.commands)
}
