import FoundationEssentials
import TestSupport

/// The fault injector of `Tests/FaultInjection`, built once for each run of the tests.
enum FaultShim {
    /// A call that the injector counted.
    struct Call {
        let name: String
        let path: String
        /// The destination of a rename.
        let target: String?
        let result: String

        /// The folder that `path` is in.
        var folder: String { Self.folder(of: path) }

        static func folder(of path: String) -> String {
            String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
        }
    }

    /// The library.
    static let library = Result { try PreloadedLibrary.build("faultshim", prefix: "fault", in: "FaultInjection") }

    /// Reads the calls from a log.
    static func calls(in log: String) throws -> [Call] {
        try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").map { line in
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            guard fields.count == 4 || fields.count == 5 else {
                throw TestFailure("the fault injector wrote a line '\(line)'")
            }
            return Call(
                name: fields[1], path: fields[2], target: fields.count == 5 ? fields[3] : nil,
                result: fields[fields.count - 1])
        }
    }
}
