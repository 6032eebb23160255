import FoundationEssentials

/// A home in which one command of `ld-host` can be tried again and again from the same state, under the fault injector.
final class DisturbedHome {
    let home: Home
    private let words: [String]
    private let input: [UInt8]?
    private let library: String

    private static let folders = ["data", "state", "config"]

    /// Keeps the state that the home is in as the one before the command.
    init(_ home: Home, _ words: [String], input: [UInt8]? = nil) throws {
        self.home = home
        self.words = words
        self.input = input
        library = try FaultShim.library.get()
        let ending = try home.shell(
            "mkdir before; for i in \(Self.list); do if test -e $i; then cp -a $i before/$i; fi; done")
        guard ending.status == 0 else { throw Home.Failure(description: ending.errors) }
    }

    private static var list: String { folders.joined(separator: " ") }
    private var log: String { "\(home.path)/log" }

    /// The calls of the command when nothing disturbs it.
    func calls() throws -> [FaultShim.Call] {
        try reset()
        let ending = try run(["LD_FAULT_LOG": log])
        guard ending.status == 0 else { throw Home.Failure(description: "\(words): \(ending.errors)") }
        return try FaultShim.calls(in: log)
    }

    /// Runs the command from the state before, with call `number` hit, and tells which one that was.
    func run(_ mode: FaultMode, at number: Int) throws -> (ending: Home.Ending, hit: FaultShim.Call) {
        try reset()
        let ending = try run([
            "LD_FAULT_LOG": log, "LD_FAULT_AT": String(number), "LD_FAULT_MODE": mode.rawValue,
        ])
        guard let hit = try FaultShim.calls(in: log).dropFirst(number - 1).first else {
            throw Home.Failure(description: "the call was not reached")
        }
        return (ending, hit)
    }

    /// Runs the command from the state that is there, undisturbed.
    func run() throws -> Home.Ending { try home.run(BuiltProducts.program, words, input: input) }

    /// What is left of changes that were not completed: files without a name, and intents of them.
    func debris() throws -> [Substring] {
        try home.shell("find \(Self.list) -path '*/.tmp/*' -o -path '*/journal/*' -type f").text.split(separator: "\n")
    }

    private func run(_ variables: [String: String]) throws -> Home.Ending {
        let roots = Self.folders.map { "\(home.path)/\($0)" }.joined(separator: ":")
        return try home.run(
            BuiltProducts.program, words, input: input,
            adding: variables.merging(["LD_PRELOAD": library, "LD_FAULT_ROOT": roots]) { $1 })
    }

    private func reset() throws {
        let ending = try home.shell(
            """
            rm -rf \(Self.list) log
            for i in \(Self.list); do if test -e before/$i; then cp -a before/$i $i; fi; done
            """)
        guard ending.status == 0 else { throw Home.Failure(description: ending.errors) }
    }
}
