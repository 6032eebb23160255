import FoundationEssentials
import Glibc
import TestSupport

/// A home in which one batch can be disturbed.
final class FileBatchBench {
    let operation: FileBatchOperation
    let disturbed: DisturbedHome
    var home: Home { disturbed.home }

    init(_ operation: FileBatchOperation) throws {
        self.operation = operation
        let home = try Home()
        try operation.prepare(home.path)
        try TemporaryFolder.makeFolder("\(home.path)/data")
        disturbed = try DisturbedHome(home, in: ["data"]) { try FileBatchSteps.run(operation, in: home, $0) }
    }

    /// `applied`, or the state and the error; empty if the process was killed before it wrote one.
    var outcome: String { (try? String(contentsOfFile: "\(home.path)/outcome", encoding: .utf8)) ?? "" }

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
}
