/// One command, as a value: its grammar, its help, and what it does.
struct Command: Sendable {
    /// An option of a command.
    struct Option: Sendable {
        /// With its dashes: `--json`.
        let name: String
        /// One letter with its dash, if there is one.
        var short: String?
        /// What its value is called in help; `nil` for a flag.
        var value: String?
        let help: String
    }

    /// One to three words: `get`, `config set`.
    let name: String
    /// What follows the name, e.g. `ADDRESS [VALUE]`.
    var operands = ""
    /// How many operands there may be.
    var count: ClosedRange<Int> = 0...0
    let summary: String
    /// More help, if the summary does not say it all.
    var details = ""
    var options: [Option] = []
    let run: @Sendable (Arguments, Session) async throws -> ExitStatus

    /// The options that every command takes.
    static let common = [
        Option(name: "--config", value: "FILE", help: "read FILE besides the other configuration files"),
        Option(name: "-c", value: "KEY=VALUE", help: "set one configuration value for this run; may be repeated"),
        Option(name: "--verbose", short: "-v", help: "tell on standard error what is done; names, never values"),
        Option(name: "--help", short: "-h", help: "show help and end"),
    ]

    static let json = Option(name: "--json", help: "print JSON")

    /// Every command, in the order of the help.
    static let all: [Command] = [
        .initialize, .set, .get, .remove, .exists, .list, .batch, .importValues, .exportValues, .watch,
        .envelopeInspect, .keysList, .keysCreate, .keysRotate, .keysEnable, .keysDisable, .keysRetire, .keysForget,
        .keysAdopt, .keysDisown, .reseal, .storeCopy, .storeForget, .migratePlan, .migrateRun, .migrateStatus,
        .migrateHistory, .migrateResume,
        .migrateRollback, .migrateConfirm, .migrateLedgerRepair, .pluginsList, .pluginsInspect, .pluginsTest,
        .pluginsVectors, .pluginsNew, .credentialGit, .credentialDocker, .pipe, .configShow, .configGet, .configSet,
        .configUnset, .configValidate,
        .configPath, .audit, .doctor, .demo, .version, .help,
    ]
}
