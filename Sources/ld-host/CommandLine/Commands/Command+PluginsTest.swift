internal import ConformanceKit
internal import FoundationEssentials
internal import LocalDataAPI
internal import LocalDataHost

extension Command {
    static let pluginsTest = Command(
        name: "plugins test", operands: "FILE|COMPONENT", count: 1...1,
        summary: "test a plugin against every promise of its kind",
        details: """
            Runs the conformance kit over each component in FILE, or over a component such as sqlite that a plugin on
            the search path offers. It runs in a child process with a deadline, so that a crash or a hang is reported as
            a result. Components are opened with the plugin's defaults and the options given. ${data}, ${cache},
            ${state} and ${config} in options name temporary folders. Checks that do not apply are skipped with the
            reason. Prints a line for each ability's checks and for every failure, and with --verbose for each check.
            Exit status 0 means that nothing failed.
            """,
        options: [
            Option(name: "--options", value: "JSON", help: "open the components with these options"),
            Option(name: "--component", value: "ID", help: "try only this component"),
            Option(name: "--only", value: "ID", help: "run only this check, e.g. value.empty; may be repeated"),
            Option(name: "--timeout", value: "SECONDS", help: "how long all of it may take; 120 if not given"),
            json,
        ]
    ) { arguments, session in
        let operand = arguments.operands[0]
        let isFile = operand.contains("/") || operand.hasSuffix(".so")
        let file = isFile ? operand : try await session.router().plugin(offering: operand, inFile: true).candidate.path
        let component = isFile ? arguments.value("--component") : operand
        let options = try componentOptions(arguments.value("--options") ?? "{}")
        let only = arguments.all("--only")
        guard let seconds = Double(arguments.value("--timeout") ?? "120"), seconds > 0, seconds <= 86_400 else {
            throw UsageError("'--timeout' takes seconds, more than 0 and at most a day")
        }
        guard let program = PluginInspector.installedHost else {
            throw StorageError(.unsupported, "this program cannot start itself again; its path is not known")
        }
        let end = SuspendingClock.now.advanced(by: .seconds(seconds))
        // A file not by a router: what is wrong with a configuration is no concern of a plugin's author.
        let inspector = PluginInspector(host: program, timeout: .seconds(min(seconds, 10)))
        let description = try await onThreadThatMayWait { try inspector.inspect(file) }
        let wanted = components(of: description, named: component)
        guard !wanted.isEmpty else {
            throw StorageError(
                .componentNotFound,
                "plugin '\(file)' has no component\(named(component)) of a known kind",
                hint: "see what it offers with: ld-host plugins inspect '\(file)'")
        }
        let all = try ConformanceCheck.all(for: Set(wanted.map(\.kind)), only: only.isEmpty ? nil : Set(only))
        var reports: [ConformanceReport] = []
        for (id, kind) in wanted {
            let checks = all.filter { $0.kind == kind }
            if checks.isEmpty { continue }
            let conformance = PluginConformance(program: program, file: file, component: id, options: options)
            let report = try await onThreadThatMayWait { try conformance.run(checks, deadline: end - .now) }
            reports.append(report)
            if !session.json {
                let text = arguments.has("--verbose") ? "\(report)" : report.summary
                for line in text.split(separator: "\n") { Output.line("\(Printable("\(line)"))") }
            }
        }
        if session.json { try Output.json(reports) }
        return reports.allSatisfy(\.failures.isEmpty) ? .done : .failure
    }

    /// The components that there are checks for; only the one of an id, if one is given.
    private static func components(
        of plugin: PluginDescription, named id: String?
    ) -> [(id: String, kind: ComponentKind)] {
        plugin.components.compactMap { component in
            guard let kind = ComponentKind(rawValue: component.kind), id == nil || component.id == id
            else { return nil }
            return (component.id, kind)
        }
    }

    private static func named(_ component: String?) -> String { component.map { " '\($0)'" } ?? "" }

    private static func componentOptions(_ text: String) throws -> [String: ComponentOption.Value] {
        do {
            return try JSONDecoder().decode([String: ComponentOption.Value].self, from: Data(text.utf8))
        } catch {
            throw UsageError("'--options' takes a flat JSON object: \(JSONFailure.text(error))")
        }
    }

    /// Runs what blocks on a thread that is there for that.
    private static func onThreadThatMayWait<Value: Sendable>(
        _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            IOExecutor.shared.submit { continuation.resume(with: Result { try body() }) }
        }
    }
}
