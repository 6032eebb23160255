internal import LocalDataHost

/// The picture of an audit: domains on the left, the stores that serve them, and the plugins behind those.
struct AuditPicture {
    private struct Box {
        let label: String
        let note: String
        let isBroken: Bool
        let y: Int
    }

    private let routes: [StorageAuditReport.Route]
    private let keyCounts: [String: Int]

    init(_ report: StorageAuditReport) {
        routes = report.routes
        keyCounts = report.locations.reduce(into: [:]) { counts, location in
            counts[String(location.location.prefix { $0 != ":" }), default: 0] += location.keys
        }
    }

    /// The picture, and for screens on which its letters would be too small, the same as a list.
    var html: String {
        let lines = routes.map { route in
            let count = (keyCounts[route.domain] ?? 0).counted("key", isGrouped: true)
            let store = route.problem == nil ? storeNote(route) : "cannot be opened"
            return "<li><code>\(AuditPage.escaped(route.domain))</code>, \(count)<br>&#8594; store "
                + "\(AuditPage.escaped(route.store)), \(AuditPage.escaped(store))<br>&#8594; plugin "
                + "\(AuditPage.escaped(pluginName(route)))</li>"
        }
        return "\(svg)\n<ul class=\"routes\">\n\(lines.joined(separator: "\n"))\n</ul>"
    }

    private func storeNote(_ route: StorageAuditReport.Route) -> String {
        [route.durability ?? "not open", route.sealing == nil ? nil : "sealed"].compactMap(\.self)
            .joined(separator: ", ")
    }

    private var svg: String {
        let stores = unique(routes.map(\.store))
        let plugins = unique(routes.map { pluginName($0) })
        let rows = max(routes.count, stores.count, plugins.count, 1)
        let height = 40 + rows * 54
        let domainBoxes = routes.enumerated().map { index, route in
            let count = keyCounts[route.domain] ?? 0
            return Box(
                label: route.domain, note: count.counted("key", isGrouped: true), isBroken: false,
                y: place(index, of: routes.count, height))
        }
        let storeBoxes = stores.enumerated().map { index, store in
            let route = routes.first { $0.store == store }
            return Box(
                label: store,
                note: route.map { storeNote($0) } ?? "not open", isBroken: route?.problem != nil,
                y: place(index, of: stores.count, height))
        }
        let pluginBoxes = plugins.enumerated().map { index, plugin in
            Box(
                label: plugin, note: "", isBroken: plugin == Self.missing,
                y: place(index, of: plugins.count, height))
        }
        var lines = ""
        for (index, route) in routes.enumerated() {
            let store = stores.firstIndex(of: route.store) ?? 0
            lines += line(230, domainBoxes[index].y, 360, storeBoxes[store].y, route.problem != nil)
        }
        for (index, store) in stores.enumerated() {
            guard let route = routes.first(where: { $0.store == store }) else { continue }
            let plugin = plugins.firstIndex(of: pluginName(route)) ?? 0
            lines += line(560, storeBoxes[index].y, 690, pluginBoxes[plugin].y, route.problem != nil)
        }
        return """
            <svg viewBox="0 0 920 \(height)" role="img" aria-label="Domains, the stores that serve them, and plugins">
            <text class="head" x="20" y="20">Domain</text><text class="head" x="360" y="20">Store</text>
            <text class="head" x="690" y="20">Plugin</text>
            \(lines)\(domainBoxes.map { box($0, 20, 210) }.joined())\(storeBoxes.map { box($0, 360, 200) }.joined())\
            \(pluginBoxes.map { box($0, 690, 210) }.joined())
            </svg>
            """
    }

    private static let missing = "none"

    private func pluginName(_ route: StorageAuditReport.Route) -> String {
        route.plugin.map { String($0.split(separator: "/").last ?? "") } ?? Self.missing
    }

    private func unique(_ names: [String]) -> [String] {
        names.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// The middle of a row, with fewer rows spread over the height.
    private func place(_ index: Int, of count: Int, _ height: Int) -> Int {
        let room = (height - 40) / max(count, 1)
        return 40 + index * room + room / 2
    }

    private func box(_ box: Box, _ x: Int, _ width: Int) -> String {
        let label = box.label.count > 26 ? "\(box.label.prefix(25))…" : box.label
        let kind = box.isBroken ? " class=\"broken\"" : ""
        let text = AuditPage.escaped(label)
        let labelY = box.note.isEmpty ? box.y + 5 : box.y - 2
        let note =
            box.note.isEmpty
            ? "" : "<text class=\"small\" x=\"\(x + 12)\" y=\"\(box.y + 13)\">\(AuditPage.escaped(box.note))</text>"
        return """
            <rect\(kind) x="\(x)" y="\(box.y - 20)" width="\(width)" height="40" rx="8"/>\
            <text x="\(x + 12)" y="\(labelY)">\(text)</text>\(note)

            """
    }

    private func line(_ x1: Int, _ y1: Int, _ x2: Int, _ y2: Int, _ isBroken: Bool) -> String {
        let middle = (x1 + x2) / 2
        let kind = isBroken ? " class=\"broken\"" : ""
        return "<path\(kind) d=\"M\(x1) \(y1) C\(middle) \(y1) \(middle) \(y2) \(x2) \(y2)\"/>\n"
    }
}
