internal import CLocalData
internal import FoundationEssentials
internal import Glibc
package import LocalDataAPI

/// Finds out what a plugin offers, in a child process with a deadline, so that a plugin that crashes or hangs is a
/// result and not an accident.
package struct PluginInspector: Sendable {
    /// How an inspection in the child ends, as JSON on its standard output.
    package struct Report: Codable, Sendable {
        /// How the process ended that loaded the plugin, if not with a report.
        enum End: Codable, Sendable {
            case exited(Int32)
            case signalled(Int32)
            case timedOut
        }

        var description: PluginDescription?
        var refusal: Refusal?
        var end: End?

        struct Refusal: Codable, Sendable {
            let code: Int32
            let message: String
            let hint: String
        }
    }

    /// The command that asks `ld-host` to inspect one file within so many milliseconds and print a report.
    package static let command = "__inspect"

    /// The `ld-host` to start; without one the file is loaded in this process.
    package let host: String?
    /// How long the child may take.
    package let timeout: Duration

    /// Creates an inspector.
    package init(host: String?, timeout: Duration) {
        self.host = host
        self.timeout = timeout
    }

    /// Looks at a file.
    ///
    /// - Throws: `pluginRefused` with the reason, also for a crash or a hang.
    package func inspect(_ path: String) throws(StorageError) -> PluginDescription {
        guard let host else { return try PluginImage.load(path).description }
        // What can be refused without running the plugin's code is refused here, without a child.
        let end = try storageErrors {
            let file = try PluginFile(checking: path, abiMajor: Int(LD_ABI_MAJOR)).location
            return try ChildProcess(
                host, arguments: [Self.command, "\(milliseconds)", file.path],
                environment: ["SWIFT_BACKTRACE": "enable=no", "PATH": "/usr/bin:/bin"]
            ).run(deadline: timeout + Self.grace)
        }
        switch end.outcome {
        case .exited(0):
            guard let report = try? JSONDecoder().decode(Report.self, from: Data(end.output)) else {
                throw refused(path, "the inspection printed no report", "run: ld-host plugins inspect \(path)")
            }
            switch report.end {
            case .exited(let status): throw ended(path, status)
            case .signalled(let signal): throw crashed(path, signal, ChildProcess.signalName(signal))
            case .timedOut: throw timedOut(path)
            case nil: break
            }
            if let refusal = report.refusal {
                throw StorageError(StorageError.Code(rawValue: refusal.code), refusal.message, hint: refusal.hint)
            }
            guard let description = report.description else {
                throw refused(path, "the inspection printed an empty report", "run: ld-host plugins inspect \(path)")
            }
            return description
        case .exited(let status): throw ended(path, status)
        case .signalled(let signal, let name): throw crashed(path, signal, name)
        case .timedOut: throw timedOut(path)
        }
    }

    /// How much longer than the plugin the process may take that ends what the plugin has started.
    private static let grace: Duration = .seconds(10)

    private var milliseconds: Int64 {
        let (seconds, attoseconds) = timeout.components
        return min(seconds, 1 << 31) * 1000 + attoseconds / 1_000_000_000_000_000
    }

    private func ended(_ path: String, _ status: Int32) -> StorageError {
        refused(path, "it ended the process that loaded it with exit status \(status)", seeAuthor)
    }

    private func crashed(_ path: String, _ signal: Int32, _ name: String) -> StorageError {
        refused(path, "it crashed the process that loaded it with signal \(signal) (\(name))", seeAuthor)
    }

    private func timedOut(_ path: String) -> StorageError {
        refused(
            path, "loading it did not end within \(timeout)",
            "remove the plugin, or raise plugins.timeout if it is only slow")
    }

    /// Loads the file in this process and describes the end.
    package static func report(on path: String) -> Report {
        Report(Result { () throws(StorageError) in try PluginImage.load(path).description })
    }

    private func refused(_ path: String, _ what: String, _ hint: String) -> StorageError {
        StorageError(.pluginRefused, "plugin '\(path)': \(what)", hint: hint)
    }
}

private let seeAuthor = "remove the plugin, or report this to its author"

extension PluginInspector {
    /// The `ld-host` of this installation: this program itself, one beside it, or the one in the same prefix.
    package static var installedHost: String? {
        guard let executable = PluginSearchPath.executable, let slash = executable.lastIndex(of: "/") else {
            return nil
        }
        if executable[executable.index(after: slash)...] == "ld-host" { return executable }
        let candidate = "\(executable[..<slash])/ld-host"
        return access(candidate, X_OK) == 0 ? candidate : nil
    }
}

extension PluginInspector.Report {
    /// The report of an inspection's result.
    init(_ result: Result<PluginDescription, StorageError>) {
        switch result {
        case .success(let description): self.init(description: description, refusal: nil)
        case .failure(let error):
            self.init(
                description: nil, refusal: .init(code: error.code.rawValue, message: error.message, hint: error.hint))
        }
    }
}
