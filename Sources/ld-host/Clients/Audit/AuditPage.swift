package import LocalDataHost

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
        \(origin)
        <p>\(summary)</p>
        \(failures)
        \(AuditPicture(report).html)
        <h2>Keys by location</h2>
        \(locations)
        </body>
        </html>

        """
    }

    private var origin: String {
        let origin = report.origin
        let files = origin.configuration.isEmpty ? ["built-in defaults"] : origin.configuration
        return """
            <dl><dt>Made</dt><dd><time>\(Self.escaped(origin.time))</time> by ld-host \(Self.escaped(origin.version))</dd>
            <dt>Host</dt><dd>\(Self.escaped(origin.host))</dd>
            <dt>Configuration</dt><dd>\(files.map { "<code>\(Self.escaped($0))</code>" }.joined(separator: ", "))</dd></dl>
            """
    }

    private var summary: String {
        let keys = report.locations.reduce(0) { $0 + $1.keys }
        let stored = report.locations.reduce(0) { $0 + $1.stored }
        let refused = report.locations.reduce(0) { $0 + ($1.protection[AuditEntry.Enforcement.refused.tag] ?? 0) }
        return "\(keys.counted("key", isGrouped: true)) in \(report.locations.count.counted("location")), "
            + "\(stored.grouped) stored, \(refused.grouped) refused here. Values were not read."
    }

    private var failures: String {
        func lines(_ texts: [String], _ title: String, _ kind: String) -> [String] {
            texts.map { "<p class=\"\(kind)\">\(title): \(Self.escaped($0))</p>" }
        }
        let all =
            lines(report.failures, "Incomplete", "refused") + lines(report.findings, "Needs attention", "advisory")
            + lines(report.quarantine, "In quarantine", "advisory")
        return all.joined(separator: "\n")
    }

    /// How many keys of a location are shown before anyone asks for them.
    private static let mostOpen = 25

    private var locations: String {
        var rest = report.entries[...]
        return report.locations.map { location in
            // The entries are in the order of the locations.
            let prefix = location.location + "/"
            let entries = rest.prefix { $0.address.utf8.starts(with: prefix.utf8) }
            rest = rest.dropFirst(entries.count)
            let missing = location.keys - entries.count
            let more =
                missing > 0
                ? "<p>\(missing.counted("key", isGrouped: true)) more: <code>ld-host audit --keys "
                    + "\(Self.escaped(PathText.shellQuoted(location.location)))</code></p>" : ""
            let plugin = location.plugin.map { ", plugin <code>\(Self.escaped($0))</code>" } ?? ""
            return """
                <details\(location.keys <= Self.mostOpen ? " open" : "")>
                <summary><code>\(Self.escaped(location.location))</code> \(tags(location)) \
                \(Self.escaped(AuditText.summary(location, hasProtection: false)))</summary>
                <p>Store \(Self.escaped(location.store ?? "none"))\(plugin), chosen by \
                \(Self.escaped(location.why ?? "nobody"))</p>
                <table>
                <thead><tr><th>Key</th><th>Protection</th><th>Value</th><th>Owner</th></tr></thead>
                <tbody>
                \(entries.map { row($0, below: prefix) }.joined(separator: "\n"))
                </tbody>
                </table>\(more)
                </details>
                """
        }.joined(separator: "\n")
    }

    private func tags(_ location: AuditLocation) -> String {
        AuditText.protection(of: location).map { "<span class=\"tag \($0.tag)\">\($0.text)</span>" }
            .joined(separator: " ")
    }

    private func row(_ entry: AuditEntry, below prefix: String) -> String {
        func line(_ text: String?) -> String {
            text.map { $0.isEmpty ? "" : "<p>\(Self.escaped($0))</p>" } ?? ""
        }
        let type = entry.type.isEmpty ? "" : "\(entry.type) as "
        let tag = entry.enforcement.tag
        let policy = entry.enforcement == .none ? "" : " \(Self.escaped(entry.policy))"
        let time =
            (entry.modified.map { ", <time>\(UTCTime.text($0))</time>" } ?? "")
            + (entry.expires.map { ", expires <time>\(UTCTime.text($0))</time>" } ?? "")
        let size = entry.size.map { ", \(Int(clamping: $0).counted("byte", isGrouped: true))" } ?? ""
        let state = entry.isStored.map { $0 ? "stored\(size)\(time)" : "not stored" } ?? "not known whether stored"
        let form = "\(type)\(entry.serializer); sync \(AuditText.sync(of: entry)); \(entry.availability)"
        let catalog = entry.catalog.map { "catalog \($0)" } ?? "in no catalog"
        return """
            <tr>
            <td><code>\(Self.escaped(String(entry.address.dropFirst(prefix.count))))</code>\(line(entry.description))</td>
            <td data-label="Protection"><span class="tag \(tag)">\(tag)</span>\(policy)\(line(entry.reason))</td>
            <td data-label="Value">\(state)\(line(form))</td>
            <td data-label="Owner">\(Self.escaped(entry.owner))\(line(catalog))</td>
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
        table { border-collapse: collapse; width: 100%; }
        th:nth-child(1) { width: 30%; } th:nth-child(2) { width: 30%; } th:nth-child(3) { width: 22%; }
        details { border: 1px solid var(--line); border-radius: .5rem; padding: .4rem .8rem; margin: .5rem 0; }
        summary { cursor: pointer; } details > p { margin: .4rem 0; color: var(--soft); font-size: .87rem; }
        time { white-space: nowrap; } dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem .8rem; }
        dt { color: var(--soft); } dd { margin: 0; }
        th, td { text-align: left; vertical-align: top; padding: .5rem .6rem; border-bottom: 1px solid var(--line); }
        th { font-weight: 600; color: var(--soft); } td p { margin: .15rem 0 0; color: var(--soft); font-size: .87rem; }
        code { font: .92em ui-monospace, monospace; overflow-wrap: anywhere; }
        .tag { font-size: .8rem; font-weight: 600; padding: .05rem .45rem; border-radius: .6rem; border: 1px solid; }
        .plain { color: var(--soft); } .enforced { color: var(--good); } .advisory { color: var(--warn); }
        .refused { color: var(--bad); }
        svg { max-width: 100%; height: auto; margin: 1rem 0; } svg text { fill: var(--text); font-size: 13px; }
        svg .head { fill: var(--soft); font-weight: 600; } svg .small { fill: var(--soft); font-size: 11px; }
        svg rect { fill: var(--box); stroke: var(--edge); } svg path { fill: none; stroke: var(--edge); }
        svg .broken { stroke: var(--bad); } .routes { display: none; }
        @media (max-width: 48rem) {
          body { margin: 1rem auto; } svg, thead { display: none; } table, tbody, tr, td { display: block; }
          .routes { display: block; list-style: none; padding: 0; } .routes li, tr { padding: .5rem 0;
          border-bottom: 1px solid var(--line); } td { border: 0; padding: .1rem 0; }
          td[data-label]::before { content: attr(data-label) ": "; color: var(--soft); font-size: .87rem; }
          dl { display: block; } dd { margin: 0 0 .3rem; }
        }
        """
}

extension StorageAuditReport {
    /// The report as one HTML page that needs nothing else.
    package func html() -> String { AuditPage(self).text }
}
