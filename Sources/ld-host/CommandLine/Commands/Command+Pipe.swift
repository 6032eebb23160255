internal import FoundationEssentials
internal import HostClients
internal import LocalDataAPI
internal import LocalDataHost

extension Command {
    static let pipe = Command(
        name: "pipe", summary: "serve another program over standard input and output",
        details: """
            Serves many calls in one process: frames of a JSON header and a value's bytes, each answered when it is
            done, until the input ends. LocalDataAPI.docc/Pipe.md specifies them, and Examples/PythonKeyring has a
            client. Ends with status 2 if the input cannot be understood.
            """
    ) { _, session in
        try await PipeService(try session.router()).run(reading: Input.standard, writing: { Output.write($0) })
        return .done
    }
}

extension Command {
    static let batch = Command(
        name: "batch", operands: "[FILE]", count: 0...1, summary: "store and remove many values, all or none",
        details: """
            FILE has one change a line, a JSON object: {"set": "ADDRESS", "value": ...} or {"remove": "ADDRESS"}.
            Without FILE, or with -, changes come from standard input. Values have the form that import takes, also
            for keys of a catalog. Removing an absent value is no error, and a later change of an address wins.
            Everything is checked before the first change. After a kill or a power loss all changes are made, or
            none.
            """,
        options: [json]
    ) { arguments, session in
        let file = arguments.operands.first ?? "-"
        let changes = try BatchDocument.changes(in: try Input.contents(of: file), from: Input.name(of: file))
        let router = try session.router()
        var batch = StorageBatch()
        var domains: [StorageDomain] = []
        for change in changes {
            let key = try await Address.key(change.address, router)
            if let value = change.value {
                let stored = try value.stored(for: key)
                batch.setData(stored.data, for: stored.key)
                if !domains.contains(key.descriptor.domain) { domains.append(key.descriptor.domain) }
            } else {
                batch.remove(key)
            }
        }
        try await router.apply(batch)
        for domain in domains { try await warnIfLost(domain, router) }
        let sets = changes.count { $0.value != nil }
        if session.json {
            try Output.json(["set": sets, "removed": changes.count - sets])
        } else {
            Output.line("made \(changes.count) change\(changes.count == 1 ? "" : "s")")
        }
        return .done
    }
}
