internal import CLocalData
internal import FoundationEssentials
internal import Glibc
internal import HostGround
package import LocalDataAPI

/// Finds out what a plugin offers, in a child process with a deadline, so that a crash or a hang is a result.
package struct PluginInspector: Sendable {
    /// The result of an inspection in the child, as JSON on its standard output.
    package struct Report: Sendable {
        /// How the process that loaded the plugin ended, if not with a report.
        enum End: Sendable {
            case exited(Int32)
            case signalled(Int32)
            case timedOut
        }

        var description: PluginDescription?
        var refusal: Refusal?
        var end: End?

        struct Refusal: Sendable {
            let code: Int32
            let message: String
            let hint: String
        }
    }

    /// The result of inspecting a file.
    package struct Finding: Sendable {
        package let result: Result<PluginDescription, StorageError>
        /// Whether the time ran out before the plugin was loaded, so that more time may give another result.
        package let isCutShort: Bool

        init(_ result: Result<PluginDescription, StorageError>, isCutShort: Bool = false) {
            self.result = result
            self.isCutShort = isCutShort
        }
    }

    /// The `ld-host` command that inspects files within this many milliseconds each and prints their reports.
    package static let command = "__inspect"

    /// The `ld-host` to start; if `nil`, the file is loaded in this process.
    package let host: String?
    /// The time limit for the child.
    package let timeout: Duration

    /// Creates an inspector.
    package init(host: String?, timeout: Duration) {
        self.host = host
        self.timeout = timeout
    }

    /// Inspects a file.
    ///
    /// - Throws: `pluginRefused` with the reason, even for a crash or a hang.
    package func inspect(_ path: String) throws(StorageError) -> PluginDescription {
        try inspect([storageErrors { try FileTrust.check(path) }])[0].result.get()
    }

    /// Inspects files.
    ///
    /// - Returns: The results, in the order of the files.
    func inspect(_ locations: [TrustedPath]) -> [Finding] {
        guard let host else {
            return locations.map { location in
                Finding(Result { () throws(StorageError) in try PluginImage.load(location).description })
            }
        }
        // Refuses here what can be refused without running the plugin's code and without a child.
        var findings: [Finding?] = []
        var files: [(index: Int, path: String)] = []
        for (index, location) in locations.enumerated() {
            do throws(StorageError) {
                _ = try storageErrors { try PluginFile(checking: location, abiMajor: Int(LD_ABI_MAJOR)) }
                files.append((index, location.path))
                findings.append(nil)
            } catch { findings.append(Finding(.failure(error))) }
        }
        for start in stride(from: 0, to: files.count, by: Self.mostAtOnce) {
            let some = files[start..<min(start + Self.mostAtOnce, files.count)]
            for (place, finding) in zip(some, inspect(some.map(\.path), host)) { findings[place.index] = finding }
        }
        return findings.compactMap { $0 }
    }

    /// Has as many processes as there are processors look at a part of the files each.
    private func inspect(_ files: [String], _ host: String) -> [Finding] {
        // Plugins of one folder, which take equally long, lie together.
        let count = max(1, min(Self.processors, files.count / Self.fewest))
        let parts = (0..<count).map { first in stride(from: first, to: files.count, by: count).map { files[$0] } }
        let programs = parts.map { files in
            ChildProcess(
                host, arguments: [Self.command, "\(milliseconds)"] + files,
                // Bound at once, functions need not be looked up in each of its children.
                environment: ["SWIFT_BACKTRACE": "enable=no", "PATH": "/usr/bin:/bin", "LD_BIND_NOW": "1"])
        }
        let ends = ChildProcess.run(programs[...]) { timeout * ($0.arguments.count - 2) + Self.grace }
        let found = zip(parts, ends).map { findings($0, $1, host) }
        return files.indices.map { found[$0 % count][$0 / count] }
    }

    /// The results of files that one process has looked at.
    private func findings(
        _ files: [String], _ end: Result<ChildProcess.Completion, any Error>, _ host: String
    ) -> [Finding] {
        do throws(StorageError) {
            let end = try storageErrors { try end.get() }
            if end.outcome == .exited(code: 0),
                let reports = Report.list(in: end.output),
                reports.count == files.count
            {
                return zip(files, reports).map { finding($0, $1) }
            }
            // Retries the files one by one: only one of them caused the failure.
            guard let file = files.first, files.count == 1 else { return files.flatMap { inspect([$0], host) } }
            let isCutShort = if case .timedOut = end.outcome { true } else { false }
            return [Finding(.failure(failure(file, end.outcome)), isCutShort: isCutShort)]
        } catch { return files.map { _ in Finding(.failure(error)) } }
    }

    private func finding(_ path: String, _ report: Report) -> Finding {
        if case .timedOut = report.end { return Finding(.failure(timedOut(path)), isCutShort: true) }
        if let end = report.end { return Finding(.failure(failure(path, end))) }
        if let refusal = report.refusal {
            let code = StorageError.Code(rawValue: refusal.code)
            return Finding(.failure(StorageError(code, refusal.message, hint: refusal.hint)))
        }
        guard let description = report.description else {
            return Finding(.failure(refused(path, "the inspection printed an empty report", inspectIt(path))))
        }
        return Finding(.success(description))
    }

    private func failure(_ path: String, _ end: Report.End) -> StorageError {
        switch end {
        case .exited(let status): ended(path, status)
        case .signalled(let signal): crashed(path, signal, ChildProcess.signalName(signal))
        case .timedOut: timedOut(path)
        }
    }

    private func failure(_ path: String, _ outcome: ChildProcess.Outcome) -> StorageError {
        switch outcome {
        case .exited(0): refused(path, "the inspection printed no report", inspectIt(path))
        case .exited(let status): ended(path, status)
        case .signalled(let signal, let name): crashed(path, signal, name)
        case .timedOut: timedOut(path)
        }
    }

    private func inspectIt(_ path: String) -> String { "run: ld-host plugins inspect \(path)" }

    /// The most files that are inspected at once.
    private static let mostAtOnce = 64
    /// The fewest files that are worth a process: it takes longer to start than to inspect some files.
    private static let fewest = 4
    private static let processors = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))

    /// How much longer than the plugin the inspection process may take, since it must end what the plugin has started.
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

    /// Loads the file in this process and describes the result.
    package static func report(on path: String) -> Report {
        Report(Result { () throws(StorageError) in try PluginImage.load(path).description })
    }

    private func refused(_ path: String, _ what: String, _ hint: String) -> StorageError {
        StorageError(.pluginRefused, "plugin '\(path)': \(what)", hint: hint)
    }
}

private let seeAuthor = "remove the plugin, or report this to its author"

extension PluginInspector {
    /// Whether this program is `ld-host`.
    static var isHost: Bool { PluginSearchPath.executable?.hasSuffix("/ld-host") ?? false }

    /// The `ld-host` of this installation: this program itself, or the one in its folder; `nil` if neither is one.
    package static var installedHost: String? {
        guard let executable = PluginSearchPath.executable, let slash = executable.lastIndex(of: "/") else {
            return nil
        }
        if isHost { return executable }
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
