import FoundationEssentials

/// A home in which one operation on sealed values or keys can be tried again and again from the same state, under the
/// fault injector.
final class KeyFaultBench {
    let operation: KeyOperation
    let home: KeyHome
    /// The keys before the operation.
    let keysBefore: [KeyHome.Key]
    private let library: String

    private static let folders = ["data", "state", "config"]

    init(_ operation: KeyOperation) throws {
        self.operation = operation
        library = try FaultShim.library.get()
        home = try KeyHome(isEmpty: operation.isHomeEmpty)
        keysBefore = try home.keys(of: operation.store)
        let ending = try home.home.shell(
            "mkdir before; for i in \(Self.list); do if test -e $i; then cp -a $i before/$i; fi; done")
        guard ending.status == 0 else { throw Home.Failure(description: ending.errors) }
    }

    private static var list: String { folders.joined(separator: " ") }
    private var log: String { "\(home.home.path)/log" }

    /// The calls of the operation when nothing disturbs it.
    func calls() throws -> [FaultShim.Call] {
        try reset()
        let ending = try run(["LD_FAULT_LOG": log])
        guard ending.status == 0 else { throw Home.Failure(description: "\(operation.name): \(ending.errors)") }
        return try FaultShim.calls(in: log)
    }

    /// Does the operation from the state before, with call `number` hit, and tells which one that was.
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

    /// Does the operation from the state that is there, undisturbed.
    func run() throws -> Home.Ending { try run([:]) }

    /// What is left of changes that were not completed: files without a name, and intents of them.
    func debris() throws -> [Substring] {
        let ending = try home.home.shell(
            "find \(Self.list) -path '*/.tmp/*' -o -path '*/journal/*' -type f; ls config/localdata/keys")
        return ending.text.split(separator: "\n").filter { $0 != "\(KeyHome.store).key" }
    }

    private func run(_ variables: [String: String]) throws -> Home.Ending {
        let roots = Self.folders.map { "\(home.home.path)/\($0)" }.joined(separator: ":")
        let words = operation.words.map { $0 == "SPARE" ? home.spare : $0 }
        let disturbed =
            variables.isEmpty ? [:] : variables.merging(["LD_PRELOAD": library, "LD_FAULT_ROOT": roots]) { $1 }
        return try home.home.run(BuiltProducts.program, words, input: operation.input, adding: disturbed)
    }

    private func reset() throws {
        let ending = try home.home.shell(
            """
            rm -rf \(Self.list) log
            for i in \(Self.list); do if test -e before/$i; then cp -a before/$i $i; fi; done
            """)
        guard ending.status == 0 else { throw Home.Failure(description: ending.errors) }
    }
}
