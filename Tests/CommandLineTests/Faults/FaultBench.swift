import FoundationEssentials
import Glibc
import TestSupport

/// A home in which one operation on the file store can be disturbed.
final class FaultBench {
    let operation: FaultOperation
    let disturbed: DisturbedHome
    var home: Home { disturbed.home }

    init(_ operation: FaultOperation) throws {
        self.operation = operation
        let home = try Home()
        try home.keepUserDefaultsInFiles()
        try operation.prepare(home)
        disturbed = try DisturbedHome(home, in: ["data"], operation.words, input: operation.input)
    }

    /// The current value; `nil` if absent.
    func value() throws -> [UInt8]? {
        let ending = try home.run("get", operation.address)
        switch ending.status {
        case 0: return ending.output
        case 1: return nil
        default: throw TestFailure("get ended with \(ending.status): \(ending.errors)")
        }
    }

    /// The paths of all files in the home's data folder, except those of the sibling and a value.
    func debris(beside value: [UInt8]?) throws -> [String] {
        let root = "\(home.path)/data"
        guard FileManager.default.fileExists(atPath: root) else { return [] }
        var contents: [String: [UInt8]] = [:]
        for path in try FileManager.default.subpathsOfDirectory(atPath: root) {
            var status = stat()
            guard lstat("\(root)/\(path)", &status) == 0, status.st_mode & S_IFMT != S_IFDIR else { continue }
            contents[path] = Array(try Data(contentsOf: URL(filePath: "\(root)/\(path)")))
        }
        var expected = operation.isHomeEmpty ? [] : [Array("sibling".utf8)]
        if let value { expected.append(value) }
        for content in expected {
            guard let found = contents.first(where: { $0.value == content && !$0.key.contains("/.tmp/") }) else {
                return ["a value is missing among \(contents.keys.sorted())"]
            }
            contents[found.key] = nil
        }
        return contents.keys.sorted()
    }
}
