import FoundationEssentials
import TestSupport

/// The library of `Tests/MemoryScan`, which looks for secrets in the memory of a program when it ends.
struct MemoryScan {
    /// A piece of a secret that is still in memory.
    struct Finding: CustomStringConvertible {
        /// The file that has the secret.
        let secret: String
        /// The range of its bytes.
        let bytes: Range<Int>
        /// The mapping, as `/proc/self/maps` names it.
        let place: String

        var description: String { "bytes \(bytes) of \(secret) in \(place)" }
    }

    private static let library = Result {
        try PreloadedLibrary.build("memoryscan", prefix: "memoryscan", in: "MemoryScan")
    }

    private let home: Home
    private let report: String
    /// The environment variables that the program needs.
    let variables: [String: String]

    /// A search for the content of files in a home's folder.
    init(_ home: Home, for files: [String]) throws {
        self.home = home
        report = "\(home.path)/memory-report"
        try? FileManager.default.removeItem(atPath: report)
        variables = [
            "LD_PRELOAD": try Self.library.get(), "LD_SCAN_REPORT": report,
            "LD_SCAN_SECRETS": files.map { "\(home.path)/\($0)" }.joined(separator: ":"),
        ]
    }

    /// Runs a command line, in which `$SCAN` precedes the program to search.
    func shell(_ line: String) throws -> Home.Ending {
        let settings = variables.map { "\($0)=\($1)" }.joined(separator: " ")
        return try home.shell(line, adding: ["SCAN": "env \(settings)"])
    }

    /// The findings in the programs that have ended.
    ///
    /// - Throws: `TestFailure` unless the expected number of programs was searched, and each had memory to search.
    func findings(programs: Int = 1) throws -> [Finding] {
        let lines = (try? String(contentsOfFile: report, encoding: .utf8))?.split(separator: "\n") ?? []
        var findings: [Finding] = []
        var searched = 0
        for line in lines {
            let fields = line.split(separator: " ", maxSplits: 5)
            if fields.first == "found", fields.count == 6, let first = Int(fields[2]), let end = Int(fields[3]) {
                let secret = fields[1].split(separator: "/").last ?? ""
                findings.append(Finding(secret: String(secret), bytes: first..<end, place: String(fields[5])))
            } else if fields.first == "searched", fields.count == 4, let bytes = Int(fields[1]), bytes > 1 << 20 {
                searched += 1
            } else {
                throw TestFailure("the search wrote a line '\(line)'")
            }
        }
        guard searched == programs else {
            throw TestFailure("\(searched) programs were searched; expected \(programs)")
        }
        return findings
    }
}
