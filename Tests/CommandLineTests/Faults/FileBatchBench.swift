import FoundationEssentials
import Glibc

/// A home in which one batch can be tried again and again from the same state, under the fault injector.
final class FileBatchBench {
    let operation: FileBatchOperation
    let home: Home
    private let library: String
    private var log: String { "\(home.path)/log" }

    init(_ operation: FileBatchOperation) throws {
        self.operation = operation
        library = try FaultShim.library.get()
        home = try Home()
        try operation.prepare(home.path)
        try FileManager.default.createDirectory(
            atPath: "\(home.path)/data", withIntermediateDirectories: true)
        _ = try shell("cp -a data before")
    }

    /// What came of a batch in which one call was hit, or none.
    struct Run {
        let ending: Home.Ending
        /// `applied`, or what holds and the error; empty if the process was killed before.
        let outcome: String
        let calls: [FaultShim.Call]
    }

    func run(_ mode: FaultMode? = nil, at number: Int = 0) throws -> Run {
        // In place: a place with a folder of its own has an absolute path.
        _ = try shell("rm -rf data log outcome; cp -a before data")
        var variables = ["LD_PRELOAD": library, "LD_FAULT_ROOT": "\(home.path)/data", "LD_FAULT_LOG": log]
        if let mode {
            variables["LD_FAULT_AT"] = String(number)
            variables["LD_FAULT_MODE"] = mode.rawValue
        }
        let (ending, line) = try FileBatchSteps.run(operation, in: home, variables)
        return Run(ending: ending, outcome: line, calls: try FaultShim.calls(in: log))
    }

    /// Files that belong to no value.
    func debris() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: "\(home.path)/data").filter { path in
            var status = stat()
            guard lstat("\(home.path)/data/\(path)", &status) == 0, status.st_mode & S_IFMT != S_IFDIR else {
                return false
            }
            return (path.contains("/.tmp/") || path.contains("/.batch/")) && !path.hasSuffix("/.batch/lock")
        }
    }

    private func shell(_ line: String) throws -> Home.Ending {
        let ending = try home.shell(line)
        guard ending.status == 0 else { throw Home.Failure(description: ending.errors) }
        return ending
    }
}
