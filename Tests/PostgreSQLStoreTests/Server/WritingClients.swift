import Foundation
import LocalDataHost
import TestSupport
import Testing

/// Processes that write numbered values through a router, four tasks each, until this object ends.
final class WritingClients {
    /// A task of a process.
    struct Client: Hashable {
        let process: Int
        let task: Int
    }

    /// The output of a client so far.
    struct Log {
        /// The number that it is writing now, and the highest completed one.
        var (tried, done) = (0, -1)
        /// For each name, the highest completed number.
        var byName: [Int: Int] = [:]
        var (count, unknown, failed) = (0, 0, Set<Int>())
        /// The last error.
        var error = ""
    }

    static let names = 250
    private static let processes = 4
    private let home: TemporaryFolder
    private var programs: [Companion] = []
    private var files: [FileHandle] = []
    private var unread = [Data](repeating: Data(), count: processes)
    private var read: [Client: Log] = [:]
    let clients: [Client] = (0..<processes).flatMap { process in (0..<4).map { Client(process: process, task: $0) } }

    init(_ uri: String) throws {
        home = try TemporaryFolder()
        for (setting, value) in [
            ("stores.shared.component", "postgresql"), ("stores.shared.options.uri", uri),
            ("domains.userDefaults", "shared"),
        ] { try run(BuiltProducts.host, "config", "set", setting, value) }
        for process in 0..<Self.processes {
            let log = "\(home.path)/log.\(process)"
            let line = "exec 3>\(log); echo ready; exec \"$0\" write p\(process) >&3 3>&-"
            programs.append(try Companion("/bin/sh", ["-c", line, Self.program], environment: environment))
            files.append(try FileHandle(forReadingFrom: URL(filePath: log)))
        }
    }

    private static let program = "\(BuiltProducts.folder)/migration-exercise"

    private var environment: [String: String] {
        [
            "HOME": home.path, "PATH": "\(BuiltProducts.folder):/usr/bin:/bin", "LANG": "C.UTF-8",
            "XDG_CONFIG_HOME": "\(home.path)/config", "XDG_DATA_HOME": "\(home.path)/data",
            "XDG_CACHE_HOME": "\(home.path)/cache", "XDG_STATE_HOME": "\(home.path)/state",
        ]
    }

    /// Ends the clients after the calls that are running.
    func end() { programs = [] }

    /// The output of each client so far.
    func logs() throws -> [Client: Log] {
        for (process, file) in files.enumerated() {
            unread[process] += try file.readToEnd() ?? Data()
            // The last line may be incomplete.
            let end = unread[process].lastIndex(of: UInt8(ascii: "\n")) ?? unread[process].startIndex
            for line in String(decoding: unread[process][..<end], as: UTF8.self).split(separator: "\n") {
                let words = line.split(separator: " ", maxSplits: 3)
                guard words.count >= 3, let task = Int(words[1]), let number = Int(words[2]) else {
                    throw TestFailure("a client printed '\(line)'")
                }
                read[Client(process: process, task: task), default: Log()].add(words[0], number, words.dropFirst(3))
            }
            unread[process] = Data(unread[process][end...])
        }
        return read
    }

    /// Waits until each client has completed a write after those in a log.
    func awaitProgress(after before: [Client: Log], within limit: Duration = .seconds(30)) throws {
        let end = ContinuousClock.now + limit
        while true {
            let now = try logs()
            let waiting = clients.filter { now[$0]?.done ?? -1 <= before[$0]?.done ?? -1 }
            if waiting.isEmpty { return }
            guard ContinuousClock.now < end else {
                throw TestFailure("\(waiting) did not resume: \(waiting.map { now[$0]?.error ?? "" })")
            }
            usleep(20_000)
        }
    }

    /// The number of each stored value, by client and name; -1 for a torn one.
    func stored() throws -> [Client: [Int: Int]] {
        var stored: [Client: [Int: Int]] = [:]
        for process in 0..<Self.processes {
            for line in try run(Self.program, "check", "p\(process)").split(separator: "\n") {
                let words = line.split(separator: " ").compactMap { Int($0) }
                guard words.count == 3 else { throw TestFailure("the check printed '\(line)'") }
                stored[Client(process: process, task: words[0]), default: [:]][words[1]] = words[2]
            }
        }
        return stored
    }

    @discardableResult
    private func run(_ program: String, _ words: String...) throws -> String {
        let end = try ChildProcess(program, arguments: words, environment: environment).run(deadline: .seconds(120))
        guard end.outcome == .exited(code: 0) else { throw TestFailure("\(words): \(end.errorText)") }
        return String(decoding: end.output, as: UTF8.self)
    }
}

extension WritingClients.Log {
    fileprivate mutating func add(_ outcome: Substring, _ number: Int, _ rest: ArraySlice<Substring>) {
        tried = number + 1
        switch outcome {
        case "done":
            done = max(done, number)
            count += 1
            byName[number % WritingClients.names] = number
        case "unknown": unknown += 1
        default:
            failed.insert(number)
            error = rest.joined(separator: " ")
        }
    }
}
