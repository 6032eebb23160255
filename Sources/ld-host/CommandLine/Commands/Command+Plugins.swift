internal import FoundationEssentials
internal import LocalDataAPI
internal import LocalDataHost

extension Command {
    static let pluginsList = Command(
        name: "plugins list", summary: "list plugins, and which of them serve",
        details: """
            Inspects every plugin again, in a child process with a deadline. A refused plugin is printed with the
            reason, and so is one that another replaces: a component that is linked into this program serves unless
            plugins.path or LOCALDATA_PLUGIN_PATH names a plugin that offers it, too.
            """,
        options: [json]
    ) { _, session in
        let records = try await session.router().plugins()
        let choices = records.choices
        if session.json {
            try Output.json(records.map { PluginReport($0, among: choices) })
            return .done
        }
        var table = Table()
        for record in records { add(record, to: &table, ComponentChoice.obstacles(of: record, in: choices)) }
        table.print()
        for refusal in records.refusals {
            Output.sentence("refused  \(Printable(refusal.message))", indent: 9)
            if !refusal.hint.isEmpty { Output.sentence("         \(Printable(refusal.hint))", indent: 9) }
        }
        if records.allSatisfy(\.isLinked) {
            Output.remark("ld-host: no plugin is on the search path; see: ld-host doctor")
        }
        return .done
    }

    /// Adds a line for each component of a plugin.
    private static func add(_ record: PluginRecord, to table: inout Table, _ obstacles: [String: String]) {
        guard let description = record.description else { return }
        for component in description.components {
            let obstacle = obstacles[component.id].map { " (not used: \($0))" } ?? ""
            table.add(
                component.id, component.kindName, "\(description.name) \(description.version)",
                "\(Printable(record.candidate.path))\(obstacle)")
        }
    }

    static let pluginsInspect = Command(
        name: "plugins inspect", operands: "FILE|COMPONENT", count: 1...1,
        summary: "show what a plugin offers, without trusting it",
        details: """
            Loads the plugin in a child process with a deadline (plugins.timeout), so that a crash or a hang is reported
            as a result. A name without a slash is a component's id, e.g. sqlite, and selects the plugin that serves it.
            """,
        options: [json]
    ) { arguments, session in
        let operand = arguments.operands[0]
        let router = try session.router()
        let record =
            try await operand.contains("/") || operand.hasSuffix(".so")
            ? router.inspectPlugin(at: operand) : router.plugin(offering: operand)
        if session.json { try Output.json(PluginReport(record)) }
        let description = try record.result.get()
        if session.json { return .done }
        Output.line("\(Printable(description.name)) \(Printable(description.version)), ABI \(description.abi)")
        Output.line(record.isLinked ? "linked into this program" : "file: \(Printable(record.candidate.path))")
        for component in description.components {
            Output.line("\ncomponent \(component.id) (\(component.kindName)): \(Printable(component.summary))")
            for option in component.options {
                var line = "  \(Printable(option.name)): \(option.type.rawValue)"
                if let allowed = option.allowed { line += " (\(Printable(allowed.joined(separator: ", "))))" }
                if let value = option.default { line += ", default \(PluginReport.text(value))" }
                if option.required { line += ", required" }
                if option.isSecret { line += ", a secret" }
                Output.line("\(line)\n      \(Printable(option.help))")
            }
        }
        return .done
    }
}
