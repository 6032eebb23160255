internal import LocalDataAPI
internal import LocalDataHost

/// What commands work with: the configuration of this run, and the router made from it.
struct Session: Sendable {
    /// Whether results are to be JSON.
    let json: Bool
    let flags: HostConfiguration.Flags
    private let log: (any StorageLogHandler)?

    init(_ arguments: Arguments) {
        json = arguments.has("--json")
        flags = HostConfiguration.Flags(file: arguments.value("--config"), values: arguments.all("-c"))
        log = arguments.has("--verbose") ? StandardErrorLog(level: .debug) : nil
    }

    /// The configuration from files, environment and flags.
    func configuration() throws(StorageError) -> HostConfiguration { try HostConfiguration.load(flags: flags) }

    /// The same with whatever is not valid in it: for commands that mend it.
    func uncheckedConfiguration() throws(StorageError) -> HostConfiguration {
        try HostConfiguration.loadUnchecked(flags: flags)
    }

    /// A router for this run.
    func router() throws(StorageError) -> StorageRouter {
        StorageRouter(configuration: try configuration(), log: log)
    }
}
