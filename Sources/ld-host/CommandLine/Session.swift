internal import Glibc
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
        let app = arguments.value("--app").map { ["app.id=\($0)"] } ?? []
        flags = HostConfiguration.Flags(
            file: arguments.value("--config"), values: Self.appOfEnvironment + arguments.all("-c") + app)
        log = arguments.has("--verbose") ? StandardErrorLog(level: .debug) : nil
    }

    /// What sets `app.id` to the app that `LOCALDATA_APP` names. Only this program reads the variable: an app's data
    /// stays its own, whatever a shell exports.
    private static var appOfEnvironment: [String] {
        guard !ProcessPrivilege.isElevated, let value = getenv("LOCALDATA_APP"), value[0] != 0 else { return [] }
        return ["app.id=\(String(cString: value))"]
    }

    /// The configuration from files, environment and flags.
    func configuration() throws(StorageError) -> HostConfiguration {
        Self.ofNoApp(try HostConfiguration.load(flags: flags))
    }

    /// The same with whatever is not valid in it: for commands that mend it.
    func uncheckedConfiguration() throws(StorageError) -> HostConfiguration {
        Self.ofNoApp(try HostConfiguration.loadUnchecked(flags: flags))
    }

    /// A configuration for this program, which is no app: unless an app is named, addresses mean the data of none.
    static func ofNoApp(_ configuration: HostConfiguration) -> HostConfiguration {
        var configuration = configuration
        configuration.ownAppID = ""
        return configuration
    }

    /// A router for this run.
    ///
    /// - Parameter isLong: Whether the command goes on until somebody ends it.
    func router(isLong: Bool = false) throws(StorageError) -> StorageRouter {
        var configuration = try configuration()
        configuration.endsAfterCommand = true
        configuration.watchesFiles = isLong
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
