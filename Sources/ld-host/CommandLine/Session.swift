internal import LocalDataAPI
internal import LocalDataHost
internal import Synchronization

/// The configuration of this run, and the router that is made from it.
struct Session: Sendable {
    /// Whether results are to be JSON.
    let json: Bool
    let flags: HostConfiguration.Flags
    private let log: (any StorageLogHandler)?
    /// The routers of this run, which has one session. Nothing takes them apart before the program ends.
    private static let routers = Mutex<[StorageRouter]>([])

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
        var configuration = try configuration()
        configuration.endsAfterCommand = true
        let router = StorageRouter(configuration: configuration, log: log)
        Self.routers.withLock { $0.append(router) }
        return router
    }

    /// Says what lies in stores that do not serve a domain, or any domain, so that no list passes for complete.
    func remarkLeftValues(of domain: String?, _ router: StorageRouter) async {
        for left in (try? await router.leftValues(ofDomain: domain)) ?? [] {
            let what = left.count.map { "\($0) value\($0 == 1 ? "" : "s")" } ?? "values"
            Output.remark(
                "ld-host: store '\(left.store)' still holds \(what) of '\(left.domain)', which '\(left.serving)' "
                    + "serves now")
            Output.remark("ld-host: hint: \(left.advice)")
        }
    }

    /// Leaves no key and no passphrase in memory when the program ends.
    func forgetSecrets() { for router in Self.routers.withLock({ $0 }) { router.forgetSecrets() } }
}
