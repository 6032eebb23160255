import FoundationEssentials
import Glibc
import LocalDataHost
import Synchronization
import TestSupport
import Testing

/// A home folder for one test, with its own XDG folders, in which programs run. It is removed with the object.
final class Home: Sendable {
    /// The exit status and output of a program.
    struct Ending {
        /// The exit status; 128 plus the signal's number if a signal ended the program, as in a shell.
        let status: Int32
        let output: [UInt8]
        let errors: String

        var text: String { String(decoding: output, as: UTF8.self) }
    }

    /// No program in these tests takes this long, however busy the machine is.
    static let deadline: Duration = .seconds(600)

    let path: String
    private let variables = Mutex<[String: String]>([:])

    /// Adds a variable to the environment of programs that run here.
    func add(_ name: String, _ value: String) { variables.withLock { $0[name] = value } }

    init(in folder: String = "/tmp") throws {
        path = try TemporaryFolder.make(in: folder, named: "localdata-cli", mode: 0o700)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Serves `userDefaults` from the file store instead of the SQLite store.
    func keepUserDefaultsInFiles() throws { try done("config", "set", "domains.userDefaults", "file") }

    /// The file store's folder for a domain's values.
    func files(_ place: String = "") -> String { "\(path)/data/localdata/files\(place.isEmpty ? "" : "/\(place)")" }

    /// The whole environment of programs that run here.
    var environment: [String: String] {
        [
            "HOME": path, "PATH": "\(BuiltProducts.folder):/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8",
            "XDG_CONFIG_HOME": "\(path)/config", "XDG_DATA_HOME": "\(path)/data", "XDG_CACHE_HOME": "\(path)/cache",
            "XDG_STATE_HOME": "\(path)/state", "BIN": BuiltProducts.folder, "PACKAGE": Repository.root,
            // How far a command is, or what it waits for, would be in the output of a slow machine.
            "LOCALDATA_PROGRESS_DELAY": "\(Int32.max)",
        ].merging(variables.withLock { $0 }) { $1 }
    }

    /// Runs `ld-host`.
    func run(
        _ words: String..., input: [UInt8]? = nil, adding variables: [String: String] = [:]
    ) throws -> Ending {
        try run(BuiltProducts.host, words, input: input, adding: variables)
    }

    /// Runs a command line with sh, in this folder.
    func shell(
        _ line: String, adding variables: [String: String] = [:], deadline: Duration = deadline
    ) throws -> Ending {
        try run("/bin/sh", ["-c", "cd \"$HOME\" || exit\n\(line)"], adding: variables, deadline: deadline)
    }

    /// Runs any program.
    func run(
        _ program: String, _ words: [String], input: [UInt8]? = nil, adding variables: [String: String] = [:],
        deadline: Duration = deadline
    ) throws -> Ending {
        let completion = try ChildProcess(
            program, arguments: words, environment: environment.merging(variables) { $1 }, input: input
        ).run(deadline: deadline)
        let status: Int32
        switch completion.outcome {
        case .exited(let code): status = code
        case .signalled(let signal, _): status = 128 + signal
        case .timedOut: throw TestFailure("\(program) \(words) \(completion.outcome)")
        }
        return Ending(status: status, output: completion.output, errors: completion.errorText)
    }
}

extension Home {
    /// Runs `ld-host`, which must succeed.
    @discardableResult
    func done(_ words: String..., input: [UInt8]? = nil, location: SourceLocation = #_sourceLocation) throws -> Ending {
        let ending = try run(BuiltProducts.host, words, input: input)
        #expect(ending.status == 0, "\(words.first ?? ""): \(ending.errors)", sourceLocation: location)
        return ending
    }
}
