import FoundationEssentials
import Glibc
import LocalDataHost
import ScratchHome
import TestSupport
import Testing

/// Users of one machine who share files, each with a separate home. Their numbers are not in the user database. Needs
/// root: the name of a suite or a test that uses it contains `AsRoot`, and it has the trait `.enabled(if:
/// Users.areAvailable)`.
///
/// The folder with everything is removed with the object.
final class Users: Sendable {
    struct User: Sendable {
        let number: uid_t
        /// The only group of the user.
        let group: gid_t
        /// A folder of the user's own with mode 0700.
        let home: String

        /// The whole environment of the user's programs, with the default folders below the home.
        var environment: [String: String] {
            ["HOME": home, "PATH": "\(Users.products):/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"]
        }
    }

    /// Whether this process may run programs as other users.
    static let areAvailable = geteuid() == 0

    /// Whether users other than root may make user namespaces, as the system's settings say.
    static let mayMakeNamespaces: Bool = {
        guard areAvailable else { return false }
        let words = ["--reuid=7001", "--regid=7000", "--clear-groups", "--", "unshare", "-r", "true"]
        let trial = ChildProcess("/usr/bin/setpriv", arguments: words, environment: ["PATH": "/usr/bin:/bin"])
        return (try? trial.run(deadline: .seconds(60)).outcome) == .exited(code: 0)
    }()

    /// The group that the first two share.
    static let group: gid_t = 7000

    /// Two members of the group.
    let first: User
    let second: User
    /// A hostile user, who belongs to another group.
    let stranger: User
    /// A folder that all users can enter and only root can change. It contains the homes.
    let folder: String

    /// Copies of the built `ld-host` and plugins, which root owns and all users can read.
    static let products: String = {
        let folder = "\(String(cString: ld_scratch_folder()))/products"
        do {
            try make(folder, owner: 0, group: 0, mode: 0o755)
            let names = try FileManager.default.contentsOfDirectory(atPath: BuiltProducts.folder)
            for name in names where name == "ld-host" || name.hasPrefix("lib") && name.hasSuffix(".so") {
                try ProgramCopy.make(of: "\(BuiltProducts.folder)/\(name)", at: folder)
                guard chown("\(folder)/\(name)", 0, 0) == 0, chmod("\(folder)/\(name)", 0o755) == 0 else {
                    throw TestFailure("\(folder)/\(name): \(errno)")
                }
            }
        } catch {
            Issue.record("the products cannot be copied: \(error)")
        }
        return folder
    }()

    init() throws {
        folder = try TemporaryFolder.make(in: "/tmp", named: "localdata-users")
        first = User(number: 7001, group: Self.group, home: "\(folder)/first")
        second = User(number: 7002, group: Self.group, home: "\(folder)/second")
        stranger = User(number: 7003, group: 7003, home: "\(folder)/stranger")
        for user in [first, second, stranger] {
            try Self.make(user.home, owner: user.number, group: user.group, mode: 0o700)
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// Makes a folder next to the homes.
    ///
    /// - Parameter mode: By default that of a folder which a group shares.
    /// - Returns: Its path.
    func shared(_ name: String, owner: User, group: gid_t = Users.group, mode: mode_t = 0o2770) throws -> String {
        try Self.make("\(folder)/\(name)", owner: owner.number, group: group, mode: mode)
        return "\(folder)/\(name)"
    }

    /// Runs `ld-host` as a user, in the user's home.
    func run(
        _ user: User, _ words: String..., input: [UInt8]? = nil, adding variables: [String: String] = [:]
    ) throws -> Home.Ending {
        try run(user, program: "\(Self.products)/ld-host", words, input: input, adding: variables)
    }

    /// Runs a command line with sh as a user, in the user's home.
    func shell(_ user: User, _ line: String, adding variables: [String: String] = [:]) throws -> Home.Ending {
        try run(user, program: "/bin/sh", ["-c", line], adding: variables)
    }

    /// Runs any program as a user, in the user's home.
    func run(
        _ user: User, program: String, _ words: [String], input: [UInt8]? = nil,
        adding variables: [String: String] = [:]
    ) throws -> Home.Ending {
        let completion = try ChildProcess(
            "/usr/bin/env", arguments: ["--chdir=\(user.home)"] + command(user, program) + words,
            environment: user.environment.merging(variables) { $1 }, input: input
        ).run(deadline: .seconds(600))
        switch completion.outcome {
        case .exited(let code):
            return Home.Ending(status: code, output: completion.output, errors: completion.errorText)
        case .signalled(let signal, _):
            return Home.Ending(status: 128 + signal, output: completion.output, errors: completion.errorText)
        case .timedOut: throw TestFailure("\(program) \(words) \(completion.outcome)")
        }
    }

    /// The words that run a program as a user, to put before the program's own: for tests that start it themselves.
    func command(_ user: User, _ program: String) -> [String] {
        ["setpriv", "--reuid=\(user.number)", "--regid=\(user.group)", "--clear-groups", "--", program]
    }

    private static func make(_ path: String, owner: uid_t, group: gid_t, mode: mode_t) throws {
        guard mkdir(path, 0o700) == 0, chown(path, owner, group) == 0, chmod(path, mode) == 0 else {
            throw TestFailure("\(path): \(errno)")
        }
    }
}
