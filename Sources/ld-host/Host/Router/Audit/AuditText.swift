internal import HostGround
internal import HostPlugins
internal import LocalDataAPI

/// An audit as text.
package enum AuditText {
    /// A catalog's keys, without accessing a store.
    static func catalog(_ name: String, _ keys: [StorageKeyDescriptor]) -> String {
        let lines = keys.sorted { "\($0.domain)/\($0.name)" < "\($1.domain)/\($1.name)" }.map { key in
            """
            \(safe("\(key.domain)/\(key.name)"))
              \(safe(key.description))
              owner \(safe(key.owner)), \(safe(key.valueType)) as \(key.serializer), security \(key.security)
              sync \(key.syncPolicy.rawValue), availability \(key.availability.rawValue)
            """
        }
        return "catalog \(safe(name)): \(keys.count.counted("key"))\n\n" + lines.joined(separator: "\n\n") + "\n"
    }

    /// When and from what the report was made.
    static func origin(_ origin: StorageAuditReport.Origin) -> String {
        let files = origin.configuration.isEmpty ? ["built-in defaults"] : origin.configuration
        return "audit of \(safe(origin.host)), \(origin.time), by ld-host \(origin.version); "
            + "configuration: \(files.map(safe).joined(separator: ", "))\n"
    }

    /// A line per location, with anything that needs attention.
    static func locations(_ report: StorageAuditReport) -> String {
        report.locations.map { location in
            var parts = [safe(location.location) + ": " + summary(location)]
            if let store = location.store { parts.append("in store \(safe(store))") }
            return parts.joined(separator: ", ") + "\n" + (location.reason.map { "  \(safe($0))\n" } ?? "")
        }.joined()
    }

    /// The number of keys and their protection: `7,910 keys, plain, in no catalog, 812,345 bytes`.
    ///
    /// - Parameter hasProtection: Whether the protection is part of it.
    package static func summary(_ location: AuditLocation, hasProtection: Bool = true) -> String {
        var parts = [location.keys.counted("key", isGrouped: true)]
        if hasProtection { parts += protection(of: location).map(\.text) }
        func part(_ count: Int, _ what: String) {
            if count > 0 { parts.append(count == location.keys ? what : "\(count.grouped) \(what)") }
        }
        part(location.uncataloged, "in no catalog")
        part(location.keys - location.stored, "not stored")
        part(location.unsynced, "not synced")
        if location.stored > 0 { parts.append(Int(clamping: location.size).counted("byte", isGrouped: true)) }
        return parts.joined(separator: ", ")
    }

    /// The kinds of protection that a location's keys have, the most frequent first: with their counts if there are
    /// several.
    package static func protection(of location: AuditLocation) -> [(tag: String, text: String)] {
        let kinds = location.protection.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        return kinds.map { ($0.key, kinds.count == 1 ? $0.key : "\($0.value.grouped) \($0.key)") }
    }

    /// The route of each domain to its plugin.
    static func routes(_ report: StorageAuditReport) -> String {
        report.routes.map { route in
            let plugin = route.plugin.map { "of \(safe($0))" } ?? "cannot be opened: \(safe(route.problem ?? ""))"
            return "\(route.domain): store \(safe(route.store)), component \(safe(route.component)) \(plugin); "
                + "\(route.durability ?? "unknown"); chosen by \(safe(route.why))"
                + (route.sealing.map { "\n  sealed with \(safe($0))" } ?? "")
        }.joined(separator: "\n") + "\n"
    }

    /// The parts that the report lacks.
    static func failures(_ report: StorageAuditReport) -> String {
        report.failures.map { "incomplete: \(safe($0))\n" }.joined()
            + report.quarantine.map { "in quarantine: \(safe($0))\n" }.joined()
            + report.findings.map { "needs attention: \(safe($0))\n" }.joined()
    }

    /// The keys, in one list.
    static func flat(_ report: StorageAuditReport) -> String {
        report.entries.map(text).joined(separator: "\n\n") + "\n"
    }

    /// The keys, grouped by catalog; those without a catalog come last.
    static func grouped(_ report: StorageAuditReport) -> String {
        let groups = Dictionary(grouping: report.entries) { $0.catalog ?? "" }
        let names = groups.keys.sorted { ($0.isEmpty ? 1 : 0, $0) < ($1.isEmpty ? 1 : 0, $1) }
        return names.map { name in
            let title = name.isEmpty ? "stored, in no catalog" : "catalog \(safe(name))"
            let entries = groups[name] ?? []
            return "\(title): \(entries.count.counted("key"))\n\n" + entries.map(text).joined(separator: "\n\n") + "\n"
        }.joined(separator: "\n")
    }

    /// The facts about a key.
    package static func text(_ entry: AuditEntry) -> String {
        var lines = [safe(entry.address)]
        if !entry.description.isEmpty { lines.append("  \(safe(entry.description))") }
        let owner = entry.owner.isEmpty ? "" : "owner \(safe(entry.owner)), "
        let type = entry.type.isEmpty ? "" : "\(safe(entry.type)) as "
        let enforcement = entry.enforcement == .none ? "" : ", \(entry.enforcement.rawValue)"
        lines.append("  \(owner)\(type)\(entry.serializer), security \(entry.policy)\(enforcement)")
        lines.append("  sync \(sync(of: entry)), availability \(entry.availability)")
        if let store = entry.store { lines.append("  in store \(safe(store)), chosen by \(safe(entry.why ?? ""))") }
        lines.append("  \(state(of: entry))")
        if let reason = entry.reason { lines.append("  \(safe(reason))") }
        return lines.joined(separator: "\n")
    }

    /// The text that replaces a report that could not be made.
    static func failure(_ error: any Error) -> String { "the audit cannot be made: \(safe("\(error)"))\n" }

    /// The sync policy, and what keeps it from taking effect.
    package static func sync(of entry: AuditEntry) -> String {
        entry.sync + (entry.syncProblem.map { ", but \(safe($0))" } ?? "")
    }

    /// Whether a value is stored, and its size, in words.
    static func state(of entry: AuditEntry) -> String {
        guard let isStored = entry.isStored else { return "not known whether stored" }
        guard isStored else { return "not stored" }
        let size = entry.size.map { Int(clamping: $0).counted("byte") } ?? "size unknown"
        let time = entry.modified.map { "written \(UTCTime.text($0))" } ?? "time of writing unknown"
        return "stored, \(size), \(time)" + (entry.expires.map { ", expires \(UTCTime.text($0))" } ?? "")
    }

    /// Text without control characters, which a name may contain.
    package static func safe(_ text: String) -> String { PathText.shown(text) }
}
