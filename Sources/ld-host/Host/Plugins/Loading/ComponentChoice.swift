internal import HostGround
internal import LocalDataAPI

/// Which of the plugins that offer a component serves, and why.
///
/// A plugin that the configuration or the environment names comes before a component that the program has registered,
/// then comes what is linked into the program, and last a plugin that is merely found. Plugins that are all found or
/// named are a tie.
package struct ComponentChoice: Sendable {
    /// The component's id.
    package let id: String
    /// Its kind, as its plugin gives it.
    let kind: Int32
    /// The plugin that serves. More than one is a tie, and none serves.
    package let serving: [PluginRecord]
    /// The other plugins that offer the component.
    package let unused: [PluginRecord]

    fileprivate init(_ id: String, _ kind: Int32, among records: [PluginRecord]) {
        let offering = records.filter { $0.component(id, kind) != nil }
        let standing = offering.contains(where: \.isLinked) ? offering.map(\.standing).max() : nil
        (self.id, self.kind) = (id, kind)
        serving = offering.filter { standing == nil || $0.standing == standing }
        unused = offering.filter { standing != nil && $0.standing != standing }
    }

    /// The component as the plugin describes it that serves.
    package var component: PluginDescription.Component? { serving.first?.component(id, kind) }

    /// The unused plugins' files.
    package var unusedFiles: [String] { unused.filter { !$0.isLinked }.map(\.candidate.path) }

    /// Why the plugin serves that does; `""` if there was nothing to choose from but what the program has.
    var reason: String {
        guard let first = serving.first, serving.count == 1, !unused.isEmpty else { return "" }
        guard first.isLinked else {
            return "it is named in \(first.candidate.origin), and so replaces the one that is linked in"
        }
        let files = unusedFiles.map { "'\($0)'" }.joined(separator: ", ")
        return files.isEmpty ? "" : "it is linked into the program, and \(files) is not named in plugins.path"
    }

    /// Why one of the unused plugins does not serve.
    private var obstacle: String {
        guard let first = serving.first else { return "" }
        return first.isLinked ? "plugins.path does not name it" : "\(first.candidate.origin) names another"
    }
}

extension ComponentChoice {
    /// Why components of a plugin do not serve, by their ids.
    package static func obstacles(of record: PluginRecord, in choices: [ComponentChoice]) -> [String: String] {
        var obstacles: [String: String] = [:]
        for choice in choices where choice.unused.contains(where: { $0.candidate.path == record.candidate.path }) {
            obstacles[choice.id] = choice.obstacle
        }
        return obstacles
    }
}

extension [PluginRecord] {
    /// The choice among the plugins that offer a component.
    func choice(of id: String, _ kind: ComponentKind) -> ComponentChoice {
        ComponentChoice(id, kind.rawValue, among: self)
    }

    /// The choice for each component that is offered, ordered by id.
    package var choices: [ComponentChoice] {
        let components = flatMap { $0.description?.components ?? [] }
        let kinds = Dictionary(components.map { ($0.id, Set([$0.kind])) }) { $0.union($1) }
        return kinds.sorted { $0.key < $1.key }.flatMap { id, kinds in
            kinds.sorted().map { ComponentChoice(id, $0, among: self) }
        }
    }
}

extension PluginRecord {
    /// A component of the plugin.
    func component(_ id: String, _ kind: Int32) -> PluginDescription.Component? {
        description?.components.first { $0.id == id && $0.kind == kind }
    }
}
