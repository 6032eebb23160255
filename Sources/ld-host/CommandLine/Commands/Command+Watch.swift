internal import FoundationEssentials
internal import LocalDataAPI
internal import LocalDataHost

extension Command {
    private struct Line: Encodable {
        let address: String
        /// Whether a value is stored now; `nil` if anything below the address may have changed.
        let isStored: Bool?
    }

    static let watch = Command(
        name: "watch", operands: "[DOMAIN[:SCOPE][/PREFIX]]", count: 0...1,
        summary: "report values that are set or removed",
        details: """
            Without an argument it reports the changes in every domain. \(Address.selectionHelp) Prints one line for
            each change, by this program or any other: set ADDRESS, removed ADDRESS, or changed
            DOMAIN[:SCOPE][/PREFIX] if the store cannot say which. It prints names, never values. Changes in quick
            succession are reported as one. Stores that do not report changes are polled once a second. Runs until it
            is interrupted.
            """,
        options: [
            Option(name: "--count", value: "N", help: "end after N lines"),
            Option(name: "--json", help: "print each line as a JSON object"),
        ]
    ) { arguments, session in
        var left = Int.max
        if let text = arguments.value("--count") {
            guard let count = Int(text), count > 0 else {
                throw UsageError("'\(text)' is not a number of lines", hint: "give a whole number of 1 or more")
            }
            left = count
        }
        let selection = try Address.selection(arguments.operands.first)
        let router = try session.router(isLong: true)
        let (changes, failures) = try await router.changes(in: selection)
        for failure in failures { Output.complain(failure) }
        Output.remark("ld-host: watching \(arguments.operands.first ?? "everything")")
        for try await changed in changes {
            for line in try await lines(changed, router).prefix(left) {
                try show(line, session)
                left -= 1
            }
            if left <= 0 { break }
        }
        return failures.isEmpty ? .done : .failure
    }

    private static func lines(_ changes: [ScopeChanges], _ router: StorageRouter) async throws -> [Line] {
        var lines: [Line] = []
        for change in changes {
            if change.changed.mayBeMore { lines.append(Line(address: change.location, isStored: nil)) }
            guard let scope = change.scope else { continue }
            for name in change.changed.names {
                let isStored = try await router.exists(key(scope, name))
                lines.append(Line(address: Address.text(scope, name), isStored: isStored))
            }
        }
        return lines
    }

    private static func show(_ line: Line, _ session: Session) throws {
        if session.json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            Output.write(PrintableText.escaped(json: try encoder.encode(line)) + Data("\n".utf8))
        } else {
            let word = line.isStored.map { $0 ? "set" : "removed" } ?? "changed"
            Output.line("\(word) \(Printable(line.address))")
        }
    }
}
