import FoundationEssentials
import Glibc

/// A home in which one operation can be tried again and again from the same state, under the fault injector.
final class FaultBench {
    let operation: FaultOperation
    let home: Home
    private let template: Home
    private let library: String

    init(_ operation: FaultOperation) throws {
        self.operation = operation
        library = try FaultShim.library.get()
        template = try Home()
        home = try Home()
        for home in [template, home] { try home.keepUserDefaultsInFiles() }
        try operation.prepare(template)
        _ = try home.shell("cp -a '\(template.path)/cache' cache")
    }

    /// The calls of the operation when nothing disturbs it.
    func calls() throws -> [FaultShim.Call] {
        try reset()
        let ending = try disturbed(["LD_FAULT_LOG": log])
        guard ending.status == 0 else { throw Home.Failure(description: "\(operation.name): \(ending.errors)") }
        return try FaultShim.calls(in: log)
    }

    /// Does the operation from the state before, with call `number` hit.
    func run(_ mode: FaultMode, at number: Int) throws -> (ending: Home.Ending, calls: [FaultShim.Call]) {
        try reset()
        let ending = try disturbed([
            "LD_FAULT_LOG": log, "LD_FAULT_AT": String(number), "LD_FAULT_MODE": mode.rawValue,
        ])
        return (ending, try FaultShim.calls(in: log))
    }

    /// The value that is there; `nil` if there is none.
    func value() throws -> [UInt8]? {
        let ending = try home.run("get", operation.address)
        switch ending.status {
        case 0: return ending.output
        case 1: return nil
        default: throw Home.Failure(description: "get ended with \(ending.status): \(ending.errors)")
        }
    }

    /// What lies in the home's data folder beside the sibling and a value: the paths of all other files.
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

    private var log: String { "\(home.path)/log" }

    private func disturbed(_ variables: [String: String]) throws -> Home.Ending {
        try home.run(
            BuiltProducts.program, operation.words, input: operation.input,
            adding: variables.merging(["LD_PRELOAD": library, "LD_FAULT_ROOT": "\(home.path)/data"]) { $1 })
    }

    private func reset() throws {
        let ending = try home.shell(
            "rm -rf data log; if test -e '\(template.path)/data'; then cp -a '\(template.path)/data' data; fi")
        guard ending.status == 0 else { throw Home.Failure(description: ending.errors) }
    }
}
