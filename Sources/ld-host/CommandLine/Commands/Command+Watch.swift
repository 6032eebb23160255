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
        name: "watch", operands: "DOMAIN[:SCOPE][/PREFIX]", count: 1...1,
        summary: "tell of values that are set or removed",
        details: """
            One line for each change, by this program or any other: set ADDRESS, removed ADDRESS, or, if the store cannot tell
            which, changed DOMAIN[:SCOPE][/PREFIX]. Names, never values. Changes that come quickly one after the other are told
            as one. Stores that cannot tell of changes are looked at once a second. Goes on until it is interrupted.
            """,
        options: [
            Option(name: "--count", value: "N", help: "end after N lines"),
            Option(name: "--json", help: "print each line as a JSON object"),
        ]
    ) { arguments, session in
        var left = Int.max
        if let text = arguments.value("--count") {
            guard let count = Int(text), count > 0 else {
                throw UsageError("'\(text)' is no number of lines", hint: "give a whole number from 1 on")
            }
            left = count
        }
        let (domain, prefix) = try Address.domain(arguments.operands[0])
        let router = try session.router()
        let changes = try await router.changes(in: domain, prefix: prefix)
        Output.remark("ld-host: watching \(Printable(arguments.operands[0]))")
        for try await changed in changes {
            var lines: [Line] = []
            for name in changed.names {
                let isStored = try await router.exists(key(domain, name))
                lines.append(Line(address: Address.text(domain, name), isStored: isStored))
            }
            if changed.mayBeMore { lines.append(Line(address: arguments.operands[0], isStored: nil)) }
            for line in lines.prefix(left) { try show(line, session) }
            left -= lines.count
            if left <= 0 { break }
        }
        return .done
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
