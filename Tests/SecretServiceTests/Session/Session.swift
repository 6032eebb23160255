import Foundation
import LocalDataAPI
import LocalDataHost
import Synchronization
import TestSupport

/// A session bus for one test, in a separate home, and the services on it. All of it ends with the object.
final class Session: Sendable {
    /// The services on the bus.
    enum Content {
        case nothing
        /// gnome-keyring, with a prompter that gives these answers, if there are any.
        case keyring(answers: [String] = [])
        /// gnome-keyring with a default collection that has no password.
        case plainKeyring
        /// A service with a fault.
        case fault(String)

        fileprivate var words: [String] {
            switch self {
            case .nothing: ["bus"]
            case .keyring(let answers): ["keyring", Session.password] + answers
            case .plainKeyring: ["plain"]
            case .fault(let fault): ["program", "/usr/bin/python3", "\(StoreProgram.folder)/service.py", fault]
            }
        }
    }

    static let password = "correct horse"

    let home: String
    /// The address of the bus.
    var address: String { "unix:path=\(home)/bus" }
    private let keeper: TemporaryFolder
    private let companion = Mutex<Companion?>(nil)

    /// Starts a session, in the home of an earlier session or in a new one.
    init(_ content: Content, home: TemporaryFolder? = nil) throws {
        keeper = try home ?? TemporaryFolder()
        self.home = keeper.path
        try FileManager.default.createDirectory(
            atPath: "\(self.home)/run", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let words = ["\(StoreProgram.folder)/session.sh"] + content.words
        let started = try Companion("/bin/sh", words, environment: environment)
        companion.withLock { $0 = started }
    }

    /// Ends everything that was started; the home stays as long as an object refers to it.
    func end() { companion.withLock { $0 = nil } }

    /// The whole environment of programs in the session.
    var environment: [String: String] {
        [
            "HOME": home, "XDG_RUNTIME_DIR": "\(home)/run", "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8",
            "DBUS_SESSION_BUS_ADDRESS": address, "PYTHONDONTWRITEBYTECODE": "1",
        ]
    }

    /// Runs a program in the session.
    func run(
        _ program: String, _ arguments: String..., input: Data? = nil, adding variables: [String: String] = [:]
    ) throws -> (status: Int32, output: Data, errors: String) {
        let end = try ChildProcess(
            program, arguments: arguments, environment: environment.merging(variables) { $1 },
            input: input.map { Array($0) }
        ).run(deadline: .seconds(300))
        guard case .exited(let status) = end.outcome else {
            throw TestFailure("\(program) \(arguments) \(end.outcome): \(end.errorText)")
        }
        return (status, Data(end.output), end.errorText)
    }

    /// Runs `store.c`'s program.
    func store(
        _ action: String, _ names: String..., options: SecretOptions = SecretOptions(), input: Data? = nil,
        adding variables: [String: String] = [:]
    ) throws -> (status: Int32, output: Data, errors: String) {
        let words = [StoreProgram.plugin, options.json, action] + names
        let end = try ChildProcess(
            try StoreProgram.built.get(), arguments: words, environment: environment.merging(variables) { $1 },
            input: input.map { Array($0) }
        ).run(deadline: .seconds(300))
        guard case .exited(let status) = end.outcome else {
            throw TestFailure("\(words) \(end.outcome): \(end.errorText)")
        }
        return (status, Data(end.output), end.errorText)
    }

    /// Runs `clients.py`, which must succeed.
    @discardableResult
    func client(_ words: String..., input: Data? = nil) throws -> Data {
        let end = try ChildProcess(
            "/usr/bin/python3", arguments: ["\(StoreProgram.folder)/clients.py"] + words, environment: environment,
            input: Array(input ?? Data())
        ).run(deadline: .seconds(60))
        guard end.outcome == .exited(code: 0) else {
            throw TestFailure("\(words) \(end.outcome): \(end.errorText)")
        }
        return Data(end.output)
    }

    /// A store on this session's bus, in this process.
    func open(
        _ options: SecretOptions = SecretOptions(), log: any StorageLogHandler = SilentLog()
    ) throws -> LoadedStore {
        var options = options
        options.bus = address
        return try PluginImage.load(StoreProgram.plugin).openStore(
            "secret-service", options: options.values, folder: home, log: log)
    }
}
