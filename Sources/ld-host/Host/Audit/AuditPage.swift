/// An audit as one HTML page: no script, nothing loaded, light and dark.
struct AuditPage {
    private let report: StorageAuditReport

    init(_ report: StorageAuditReport) { self.report = report }

    /// The page.
    var text: String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>Storage audit</title>
        <style>
        \(Self.style)
        </style>
        </head>
        <body>
        <h1>Storage audit</h1>
        <p>\(summary)</p>
        \(failures)
        \(AuditPicture(report).svg)
        \(tables)
        </body>
        </html>

        """
    }

    private var summary: String {
        let stored = report.entries.count { $0.isStored == true }
        let refused = report.entries.count { $0.enforcement == .refused }
        return "\(report.entries.count) keys, \(stored) stored, \(refused) refused here. Values were not read."
    }

    private var failures: String {
        report.failures.map { "<p class=\"refused\">Incomplete: \(Self.escaped($0))</p>" }.joined(separator: "\n")
    }

    private var tables: String {
        let groups = Dictionary(grouping: report.entries) { $0.catalog ?? "" }
        let names = groups.keys.sorted { ($0.isEmpty ? 1 : 0, $0) < ($1.isEmpty ? 1 : 0, $1) }
        return names.map { name in
            let rows = (groups[name] ?? []).map(row).joined(separator: "\n")
            return """
                <h2>\(name.isEmpty ? "Stored, in no catalog" : "Catalog \(Self.escaped(name))")</h2>
                <div class="scroll"><table>
                <thead><tr><th>Key</th><th>Protection</th><th>Value</th><th>Store</th><th>Owner</th></tr></thead>
                <tbody>
                \(rows)
                </tbody>
                </table></div>
                """
        }.joined(separator: "\n")
    }

    private func row(_ entry: AuditEntry) -> String {
        let reason = entry.reason.map { "<p class=\"reason\">\(Self.escaped($0))</p>" } ?? ""
        let type = entry.type.isEmpty ? "" : "\(Self.escaped(entry.type)) as "
        let tag = entry.enforcement == .none ? "plain" : entry.enforcement.rawValue
        let policy = entry.enforcement == .none ? "" : " \(Self.escaped(entry.policy))"
        let protection = "<span class=\"tag \(tag)\">\(tag)</span>\(policy)"
        return """
            <tr>
            <td><code>\(Self.escaped(entry.address))</code><p>\(Self.escaped(entry.description))</p></td>
            <td>\(protection)\(reason)</td>
            <td>\(Self.escaped(AuditText.state(of: entry)))<p>\(type)\(Self.escaped(entry.serializer)); \
            sync \(entry.sync); \(entry.availability)</p></td>
            <td>\(Self.escaped(entry.store ?? "none"))<p>chosen by \(Self.escaped(entry.why ?? "nobody"))</p></td>
            <td>\(Self.escaped(entry.owner))</td>
            </tr>
            """
    }

    /// Text for HTML, with what is invisible made visible: names come from outside.
    static func escaped(_ text: String) -> String {
        var result = ""
        for character in AuditText.safe(text).unicodeScalars {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.unicodeScalars.append(character)
            }
        }
        return result
    }

    private static let style = """
        :root { color-scheme: light dark; --text: #1d2329; --soft: #5b6670; --line: #d8dee4; --back: #ffffff;
          --box: #f4f6f8; --good: #1a7f4b; --warn: #9a6700; --bad: #b3261e; --edge: #8a97a3; }
        @media (prefers-color-scheme: dark) { :root { --text: #e3e8ec; --soft: #9aa6b0; --line: #30363d;
          --back: #14181c; --box: #1e242a; --good: #4cc38a; --warn: #e3b341; --bad: #ff8a80; --edge: #6b7782; } }
        body { font: 15px/1.5 system-ui, sans-serif; color: var(--text); background: var(--back); margin: 2rem auto;
          max-width: 70rem; padding: 0 1rem; }
        h1 { font-size: 1.6rem; margin: 0 0 .5rem; } h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
        .scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; }
        th:nth-child(1) { width: 27%; } th:nth-child(2) { width: 33%; } th:nth-child(3) { width: 20%; }
        th, td { text-align: left; vertical-align: top; padding: .5rem .6rem; border-bottom: 1px solid var(--line); }
        th { font-weight: 600; color: var(--soft); } td p { margin: .15rem 0 0; color: var(--soft); font-size: .87rem; }
        code { font: .92em ui-monospace, monospace; overflow-wrap: anywhere; }
        .tag { font-size: .8rem; font-weight: 600; padding: .05rem .45rem; border-radius: .6rem; border: 1px solid; }
        .plain { color: var(--soft); } .enforced { color: var(--good); } .advisory { color: var(--warn); }
        .refused { color: var(--bad); }
        svg { max-width: 100%; height: auto; margin: 1rem 0; } svg text { fill: var(--text); font-size: 13px; }
        svg .head { fill: var(--soft); font-weight: 600; } svg .small { fill: var(--soft); font-size: 11px; }
        svg rect { fill: var(--box); stroke: var(--edge); } svg path { fill: none; stroke: var(--edge); }
        svg .broken { stroke: var(--bad); }
        """
}
