internal import DurableFiles
internal import FoundationEssentials
internal import HostClients
internal import LocalDataHost

extension Command {
    static let audit = Command(
        name: "audit", operands: "[DOMAIN[:SCOPE][/PREFIX]]", count: 0...1,
        summary: "report what each key is, where it is, and how it is protected",
        details: """
            Covers the keys in the catalogs that the configuration names, also those never written, and every other
            stored value: how many each location has, and with --keys each of them. Values are not read.
            \(Address.selectionHelp)
            The HTML page has the keys of catalogs and \(mostOfPage) more of each location. Ends with status 2 if a
            store could not be listed; the report then names it, and lacks its keys.
            """,
        options: [
            Option(name: "--keys", help: "print everything known about each key"), json,
            Option(name: "--html", value: "FILE", help: "write one self-contained HTML page to FILE"),
        ]
    ) { arguments, session in
        let (router, selection) = (try session.router(), try Address.selection(arguments.operands.first))
        let file = arguments.value("--html")
        let wantsKeys = file == nil && arguments.has("--keys") && !session.json
        var list = file == nil && session.json ? AuditJSON() : nil
        let progress = ProgressLine("looking at keys", isShown: !Output.isTerminal || !wantsKeys && list == nil)
        var failure: (any Error)?
        let report = try await StorageAuditReport.make(
            of: router, in: selection, keeping: file == nil ? 0 : mostOfPage
        ) { entry in
            if wantsKeys { Output.sentences("\(AuditText.text(entry))\n\n") }
            do { try list?.add(entry) } catch { failure = error }
            progress.advance()
        }
        progress.finish()
        if let failure { throw failure }
        if let file {
            try HostFile.write(Data(report.html().utf8), to: file, rule: .any, isHosts: false)
            Output.remark("ld-host: the audit is in \(file)")
        } else if let list {
            try list.end(report)
        } else {
            Output.sentences(report.text())
            if !wantsKeys, Output.isTerminal {
                Output.remark("ld-host: hint: to see everything known about each key: ld-host audit --keys")
            }
        }
        guard !report.failures.isEmpty else { return .done }
        Output.complain(
            "the audit is incomplete: \(report.failures.joined(separator: "; "))", hint: "see: ld-host doctor")
        return .failure
    }

    private static let mostOfPage = 10_000
}

/// A report as JSON whose keys are written as they come.
private struct AuditJSON {
    private static let start = "{\n  \"entries\" : "
    private var list: JSONList

    init() {
        Output.write(Data(Self.start.utf8))
        list = JSONList(indent: "  ")
    }

    mutating func add(_ entry: AuditEntry) throws { try list.add(entry) }

    /// Ends the list, and writes the rest of the report.
    func end(_ report: StorageAuditReport) throws {
        list.end(line: false)
        let rest = try Output.encoded(report.withoutEntries)
        Output.write(rest.dropFirst(Self.start.utf8.count + "[\n\n  ]".utf8.count))
        Output.line("")
    }
}
