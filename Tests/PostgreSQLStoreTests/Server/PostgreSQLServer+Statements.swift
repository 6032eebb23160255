import Foundation
import LocalDataHost
import TestSupport

extension PostgreSQLServer {
    /// Runs statements as an administrator, and returns their rows, the columns separated by `
    ///
    /// `.
    @discardableResult
    func run(_ statements: String) throws -> [String] {
        let end = try ChildProcess(
            "/usr/bin/psql", arguments: ["-XAtq", "-v", "ON_ERROR_STOP=1", uri(), "-c", statements],
            environment: ["PATH": "/usr/bin:/bin", "HOME": folder, "LC_ALL": "C"]
        ).run(deadline: .seconds(60))
        guard end.outcome == .exited(code: 0) else { throw TestFailure("\(statements): \(end.errorText)") }
        return String(decoding: end.output, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
