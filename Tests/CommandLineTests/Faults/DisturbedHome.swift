import FoundationEssentials
import TestSupport

/// A home in which one command can be tried again and again from the same state, under the fault injector.
final class DisturbedHome {
    /// A run in which one call was hit.
    struct Run {
        let home: Home
        let mode: FaultMode
        let ending: Home.Ending
        let calls: [FaultShim.Call]
        let hit: FaultShim.Call
        /// The calls before the one that was hit.
        let before: ArraySlice<FaultShim.Call>
    }

    /// The folders of a home whose content outlasts a process.
    static let all = ["data", "state", "config"]

    let home: Home
    private let folders: [String]
    private let disturbedFolders: [String]
    private let library: String
    private let command: (_ variables: [String: String]) throws -> Home.Ending

    /// Saves the home's current state as the one before the command.
    ///
    /// - Parameters:
    /// - folders: The folders to save.
    /// - disturbedFolders: Those whose calls are disturbed, if not all of these.
    /// - command: Runs it, with variables for the injector in its environment.
    init(
        _ home: Home, in folders: [String] = DisturbedHome.all, disturbing disturbedFolders: [String]? = nil,
        command: @escaping (_ variables: [String: String]) throws -> Home.Ending
    ) throws {
        self.home = home
        self.folders = folders
        self.disturbedFolders = disturbedFolders ?? folders
        self.command = command
        library = try FaultShim.library.get()
        try shell("mkdir before; for i in \(list); do if test -e $i; then cp -a $i before/$i; fi; done")
    }

    /// A home in which the command is one of `ld-host`.
    convenience init(
        _ home: Home, in folders: [String] = DisturbedHome.all, _ words: [String], input: [UInt8]? = nil
    ) throws {
        try self.init(home, in: folders) { try home.run(BuiltProducts.host, words, input: input, adding: $0) }
    }

    private var list: String { folders.joined(separator: " ") }
    private var log: String { "\(home.path)/log" }

    /// The calls of the command when nothing disturbs it.
    func calls() throws -> [FaultShim.Call] {
        try reset()
        let ending = try injected([:])
        guard ending.status == 0 else { throw TestFailure("status \(ending.status): \(ending.errors)") }
        return try FaultShim.calls(in: log)
    }

    /// Restores the state before, and runs the command with a fault at a point.
    func run(_ point: FaultPoint) throws -> Run {
        try reset()
        let ending = try injected(point.variables)
        let calls = try FaultShim.calls(in: log)
        guard calls.count >= point.number else { throw TestFailure("the call was not reached") }
        return Run(
            home: home, mode: point.mode, ending: ending, calls: calls, hit: calls[point.number - 1],
            before: calls.prefix(point.number - 1))
    }

    /// Runs the command from the current state, undisturbed.
    func run() throws -> Home.Ending { try command([:]) }

    /// Files that incomplete changes leave: files without a name, and their intents.
    func debris() throws -> [Substring] {
        try home.shell("find \(list) -path '*/.tmp/*' -o -path '*/journal/*' -type f").text.split(separator: "\n")
    }

    /// The variables with which any program is disturbed here.
    var injection: [String: String] {
        let roots = disturbedFolders.map { "\(home.path)/\($0)" }.joined(separator: ":")
        return ["LD_PRELOAD": library, "LD_FAULT_ROOT": roots, "LD_FAULT_LOG": log]
    }

    private func injected(_ variables: [String: String]) throws -> Home.Ending {
        try command(variables.merging(injection) { $1 })
    }

    /// Restores the state before.
    func reset() throws {
        try shell(
            """
            rm -rf \(list) log
            for i in \(list); do if test -e before/$i; then cp -a before/$i $i; fi; done
            """)
    }

    private func shell(_ line: String) throws {
        let ending = try home.shell(line)
        guard ending.status == 0 else { throw TestFailure(ending.errors) }
    }
}
