internal import LocalDataAPI

/// An audit as text.
enum AuditText {
    /// A catalog's keys, without looking at a store.
    static func catalog(_ name: String, _ keys: [StorageKeyDescriptor]) -> String {
        let lines = keys.sorted { "\($0.domain)/\($0.name)" < "\($1.domain)/\($1.name)" }.map { key in
            """
            \(safe("\(key.domain)/\(key.name)"))
              \(safe(key.description))
              owner \(safe(key.owner)), \(safe(key.valueType)) as \(key.serializer), security \(key.security)
              sync \(key.syncPolicy.rawValue), availability \(key.availability.rawValue)
            """
        }
        return "catalog \(safe(name)): \(keys.count) keys\n\n" + lines.joined(separator: "\n\n") + "\n"
    }

    /// The way of each domain to its plugin.
    static func routes(_ report: StorageAuditReport) -> String {
        report.routes.map { route in
            let plugin = route.plugin.map { "of \(safe($0))" } ?? "cannot be opened: \(safe(route.problem ?? ""))"
            return "\(route.domain): store \(safe(route.store)), component \(safe(route.component)) \(plugin); "
                + "\(route.durability ?? "unknown"); chosen by \(safe(route.why))"
                + (route.sealing.map { "\n  sealed with \(safe($0))" } ?? "")
        }.joined(separator: "\n") + "\n"
    }

    /// What the report lacks.
    static func failures(_ report: StorageAuditReport) -> String {
        report.failures.map { "incomplete: \(safe($0))\n" }.joined()
    }

    /// The keys, in one list.
    static func flat(_ report: StorageAuditReport) -> String {
        report.entries.map(text).joined(separator: "\n\n") + "\n"
    }

    /// The keys, grouped by catalog; those in none come last.
    static func grouped(_ report: StorageAuditReport) -> String {
        let groups = Dictionary(grouping: report.entries) { $0.catalog ?? "" }
        let names = groups.keys.sorted { ($0.isEmpty ? 1 : 0, $0) < ($1.isEmpty ? 1 : 0, $1) }
        return names.map { name in
            let title = name.isEmpty ? "stored, in no catalog" : "catalog \(safe(name))"
            let entries = groups[name] ?? []
            return "\(title): \(entries.count) keys\n\n" + entries.map(text).joined(separator: "\n\n") + "\n"
        }.joined(separator: "\n")
    }

    private static func text(_ entry: AuditEntry) -> String {
        var lines = [safe(entry.address)]
        if !entry.description.isEmpty { lines.append("  \(safe(entry.description))") }
        let owner = entry.owner.isEmpty ? "" : "owner \(safe(entry.owner)), "
        let type = entry.type.isEmpty ? "" : "\(safe(entry.type)) as "
        let enforcement = entry.enforcement == .none ? "" : ", \(entry.enforcement.rawValue)"
        lines.append("  \(owner)\(type)\(entry.serializer), security \(entry.policy)\(enforcement)")
        lines.append("  sync \(entry.sync), availability \(entry.availability)")
        if let store = entry.store { lines.append("  in store \(safe(store)), chosen by \(safe(entry.why ?? ""))") }
        lines.append("  \(state(of: entry))")
        if let reason = entry.reason { lines.append("  \(safe(reason))") }
        return lines.joined(separator: "\n")
    }

    /// What stands in the place of a report that could not be made.
    static func failure(_ error: any Error) -> String { "the audit cannot be made: \(safe("\(error)"))\n" }

    /// Whether and what is stored, in words.
    static func state(of entry: AuditEntry) -> String {
        guard let isStored = entry.isStored else { return "not known whether stored" }
        guard isStored else { return "not stored" }
        let size = entry.size.map { "\($0) bytes" } ?? "size unknown"
        let time = entry.modified.map { "written \(UTCTime.text($0))" } ?? "time of writing unknown"
        return "stored, \(size), \(time)"
    }

    /// Text without control characters, which a name may have.
    static func safe(_ text: String) -> String { PathText.shown(text) }
}
