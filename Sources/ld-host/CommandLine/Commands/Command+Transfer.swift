internal import FoundationEssentials
internal import LocalDataAPI
internal import LocalDataHost

extension Command {
    static let importValues = Command(
        name: "import", operands: "DOMAIN[:SCOPE] FILE", count: 2...2, summary: "store the entries of a JSON file",
        details: """
            FILE (- for standard input) is a JSON object, each of whose entries becomes a value under its name, or,
            with --each and --name, an array of objects. A value's bytes are the entry as JSON without white space;
            {"$text": "..."} stands for text, and {"$base64": "..."} for other bytes; with {"$format": "..."} beside
            them, as export writes it, they are recorded as that. If a catalog describes a key, its type and serializer
            count, as with set.
            Everything is checked before the first value is stored, and all values are stored or none.
            """,
        options: [
            Option(name: "--each", value: "PATH", help: "import the elements of the array at PATH, e.g. 639-3"),
            Option(name: "--name", value: "FIELD", help: "name each element by its member FIELD"), json,
        ]
    ) { arguments, session in
        let (domain, prefix) = try Address.domain(arguments.operands[0])
        if (arguments.value("--each") == nil) != (arguments.value("--name") == nil) {
            throw UsageError("--each and --name go together", hint: "run: ld-host help import")
        }
        let file = arguments.operands[1]
        let entries = try ValueDocument.entries(
            in: try Input.contents(of: file), from: Input.name(of: file), each: arguments.value("--each"),
            name: arguments.value("--name"), prefix: prefix)
        let router = try session.router()
        var batch = StorageBatch()
        for entry in entries {
            let stored = try entry.value.stored(for: try await router.key(named: entry.name, in: domain))
            batch.setData(stored.data, for: stored.key)
        }
        let bar = ProgressLine("importing", total: entries.count)
        try await router.apply(batch) { bar.advance() }
        bar.finish()
        try await warnIfLost(domain, router)
        if session.json {
            try Output.json(["imported": entries.count])
        } else {
            Output.line("imported \(entries.count) value\(entries.count == 1 ? "" : "s") into \(domain)")
        }
        return .done
    }

    static let exportValues = Command(
        name: "export", operands: "DOMAIN[:SCOPE][/PREFIX]", count: 1...1, summary: "print what is stored as JSON",
        details: """
            Prints a JSON object, one entry a line, that import takes back, to the same bytes recorded alike. A value that is corrupt, or
            cannot be opened, is left out and reported, and the status is 2.
            """,
        options: []
    ) { arguments, session in
        let (domain, prefix) = try Address.domain(arguments.operands[0])
        let router = try session.router()
        var (separator, isWhole) = ("{\n", true)
        // Entry by entry: a dictionary would hold names that differ in their bytes alone as one.
        for name in try await router.names(in: domain, prefix: prefix) {
            let stored: Data?
            let recorded: SerializerFormat?
            do {
                stored = try await router.data(for: key(domain, name))
                recorded = try await router.attributes(of: key(domain, name))?.format
            } catch let error as StorageError
                where [.corrupt, .cannotOpen].contains(error.code)
            {
                Output.complain(error.message, hint: error.hint)
                isWhole = false
                continue
            }
            guard let data = stored else { continue }
            let value = try ValueDocument.entry(for: data, recorded: recorded).serialized()
            let line = "\(separator)  \(try JSONValue.string(name).serialized()): \(value)"
            Output.write(PrintableText.escaped(json: Data(line.utf8)))
            separator = ",\n"
        }
        Output.line(separator == "{\n" ? "{}" : "\n}")
        await session.remarkLeftValues(of: domain.name, router)
        return isWhole ? .done : .failure
    }
}
