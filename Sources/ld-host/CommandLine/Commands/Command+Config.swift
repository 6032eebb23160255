internal import FoundationEssentials
internal import LocalDataAPI
internal import LocalDataHost

extension Command {
    private struct Value: Encodable {
        let key: String
        let value: JSONValue
        let origin: String
    }

    static let configShow = Command(
        name: "config show", summary: "print the configuration in effect",
        options: [Option(name: "--origin", help: "print where each value comes from"), json]
    ) { arguments, session in
        let configuration = try session.configuration()
        let values = configuration.values().map {
            Value(
                key: "\($0.path)", value: $0.value.withoutPasswords(named: $0.path.segments.last ?? ""),
                origin: "\($0.origin)")
        }
        if session.json {
            if arguments.has("--origin") {
                try Output.json(values)
            } else {
                try Output.json(configuration.effective.withoutPasswords())
            }
            return .done
        }
        var table = Table()
        for value in values {
            let text = "\(value.key) = \(Printable(try value.value.serialized()))"
            if arguments.has("--origin") { table.add(text, "\(Printable(value.origin))") } else { table.add(text) }
        }
        table.print()
        return .done
    }

    static let configGet = Command(
        name: "config get", operands: "KEY", count: 1...1, summary: "print one setting",
        details: "Text is printed as it is, anything else as JSON. Ends with status 1 if KEY has no value.",
        options: [Option(name: "--origin", help: "print where it comes from instead"), json]
    ) { arguments, session in
        let key = arguments.operands[0]
        guard let (kept, origin) = try session.configuration().value(at: key) else {
            throw StorageError(.notFound, "'\(key)' has no value", hint: "run: ld-host config show")
        }
        let value = kept.withoutPasswords(named: try ConfigurationPath(key).segments.last ?? "")
        if session.json {
            try Output.json(Value(key: key, value: value, origin: "\(origin)"))
        } else if arguments.has("--origin") {
            Output.line("\(origin)")
        } else if case .string(let text) = value {
            Output.line(Output.isTerminal ? "\(Printable(text))" : text)
        } else {
            Output.line(
                String(
                    decoding: PrintableText.escaped(json: Data(try value.serialized(pretty: true).utf8)), as: UTF8.self)
            )
        }
        return .done
    }

    static let configSet = Command(
        name: "config set", operands: "KEY VALUE", count: 2...2, summary: "change one setting",
        details: """
            VALUE is JSON; if it is not valid JSON, it is text. The file that LOCALDATA_CONFIG or --config names is
            changed, or else the user's; its comments and its order are kept. A change that makes the configuration
            invalid is refused, and so is one with which a store or a domain could not be used: the stores that it
            concerns are opened, and looked at as by doctor. For example:
              ld-host config set domains.userDefaults memory
            """,
        options: [anyway]
    ) { arguments, session in
        let (key, text) = (arguments.operands[0], arguments.operands[1])
        let path = try change(key, to: text, arguments, session)
        Output.remark("ld-host: \(key) is set in \(path)")
        await remarkLeftValues(after: key, session)
        return .done
    }

    static let configUnset = Command(
        name: "config unset", operands: "KEY", count: 1...1, summary: "remove one setting from the configuration file",
        options: [anyway], removes: true
    ) { arguments, session in
        let key = arguments.operands[0]
        let path = try change(key, to: nil, arguments, session)
        Output.remark("ld-host: \(key) is removed from \(path)")
        await remarkLeftValues(after: key, session)
        return .done
    }

    private static let anyway = Option(
        name: "--anyway", help: "change it also if a store or a domain cannot be used then; that is only reported")

    private static func change(
        _ key: String, to text: String?, _ arguments: Arguments, _ session: Session
    ) throws -> String {
        let insists = arguments.has(anyway.name)
        return try session.uncheckedConfiguration().change(key, to: text, flags: session.flags) {
            (next, former) throws(StorageError) in
            try examine(next, former, insists: insists)
        }
    }

    /// Looks at what a change concerns before it is written, and reports what does not work now.
    ///
    /// - Throws: `invalidConfiguration` with what cannot work, unless the user insists.
    static func examine(
        _ next: HostConfiguration, _ former: HostConfiguration, insists: Bool
    ) throws(StorageError) {
        let trial = ConfigurationTrial(next, insteadOf: former)
        if let refusal = trial.refusals.first, !insists {
            throw StorageError(
                .invalidConfiguration, "\(refusal.text); nothing was changed",
                hint: "\(refusal.hint)\(refusal.hint.isEmpty ? "" : "; or ")change it all the same with --anyway")
        }
        for finding in trial.refusals + trial.warnings {
            Output.remark("ld-host: warning: \(Printable(finding.text))")
            if !finding.hint.isEmpty { Output.remark("ld-host: hint: \(Printable(finding.hint))") }
        }
    }

    /// Says what a change leaves behind in a domain's former store, or in a store that is sealed now.
    private static func remarkLeftValues(after key: String, _ session: Session) async {
        guard let parts = try? ConfigurationPath(key).segments, parts.count >= 2, let router = try? session.router()
        else { return }
        switch parts[0] {
        case "domains" where parts.count == 2: await session.remarkLeftValues(of: parts[1], router)
        case "stores":
            guard let unsealed = try? await router.unsealedValues(in: parts[1]) else { return }
            Output.remark("ld-host: \(unsealed.text)")
            Output.remark("ld-host: hint: \(unsealed.hint)")
        default: return
        }
    }

    static let configValidate = Command(
        name: "config validate", operands: "[FILE]", count: 0...1,
        summary: "check the configuration, and print every problem",
        details: """
            Ends with status 2 if there are problems; each names the file, the line and what to do. If there are none, \
            opens the migration packs, which check their own options, such as a manifest. No migration runs.
            """
    ) { arguments, session in
        let problems: [ConfigurationProblem]
        if let file = arguments.operands.first {
            problems = try HostConfiguration.problems(inFile: file) + Diagnosis.exposure(of: [file])
        } else {
            let configuration = try session.uncheckedConfiguration()
            problems = configuration.allProblems() + Diagnosis.exposure(of: configuration, flags: session.flags)
        }
        for problem in problems { Output.sentence("\(Printable("\(problem)"))", indent: 4) }
        if problems.isEmpty { Output.remark("ld-host: the configuration is valid") }
        return problems.isEmpty ? .done : .failure
    }

    static let configPath = Command(
        name: "config path", summary: "list the configuration files; later ones override earlier ones", options: [json]
    ) { _, session in
        let files = HostConfiguration.files(flags: session.flags)
        if session.json {
            try Output.json(files)
            return .done
        }
        var table = Table()
        for file in files { table.add(file.layer, file.path, file.exists ? "" : "(missing)") }
        table.print()
        return .done
    }
}
