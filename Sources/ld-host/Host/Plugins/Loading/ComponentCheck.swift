internal import HostGround
internal import LocalDataAPI

/// Compares a configuration with the available plugins.
struct ComponentCheck {
    private let configuration: HostConfiguration
    private let folders: HostSettings.Folders
    private let refusals: [StorageError]
    private let components: [PluginDescription.Component]

    init(_ configuration: HostConfiguration, _ records: [PluginRecord], _ folders: HostSettings.Folders) {
        self.configuration = configuration
        self.folders = folders
        refusals = records.refusals
        components = records.choices.compactMap(\.component)
    }

    private var layered: LayeredConfiguration { configuration.layered }

    func stores() -> [ConfigurationProblem] {
        names(["stores"]).flatMap { component(in: ["stores", $0], .storage) }
    }

    func packs() -> [ConfigurationProblem] {
        names(["migrations", "packs"]).flatMap {
            component(in: ["migrations", "packs", $0], .migration)
        }
    }

    func transport() -> [ConfigurationProblem] { component(in: ["sync"], named: "transport", .sync) }

    func provider() -> [ConfigurationProblem] {
        text(at: ["encryption", "provider"]).map { unknown($0.value, .crypto, $0.path, $0.origin) ?? [] } ?? []
    }

    func domains() -> [ConfigurationProblem] {
        let stores = names(["stores"])
        return names(["domains"]).flatMap { domain -> [ConfigurationProblem] in
            guard let (store, path, origin) = text(at: ["domains", domain]), !stores.contains(store) else { return [] }
            return unknown(store, .storage, path, origin, besides: stores) ?? []
        }
    }

    private func names(_ path: [String]) -> [String] { (try? layered.keys(at: path)) ?? [] }

    private func text(at path: [String]) -> (value: String, path: [String], origin: ConfigurationOrigin)? {
        guard let (value, origin) = layered.value(at: path), case .string(let text) = value, origin.layer != .default
        else { return nil }
        return (text, path, origin)
    }

    /// The problem of an unknown component id; `nil` if a component of the kind has it.
    private func unknown(
        _ id: String, _ kind: ComponentKind, _ path: [String], _ origin: ConfigurationOrigin,
        besides names: [String] = []
    ) -> [ConfigurationProblem]? {
        let known = components.filter { $0.kind == kind.rawValue }.map(\.id).sorted()
        guard !known.contains(id) else { return nil }
        let near = EditDistance.nearest(to: id, in: known + names, within: 2)
        let list = known.isEmpty ? "there are none" : "there are \(known.joined(separator: ", "))"
        let refusal = refusals.first.map { "a plugin was refused: \($0.message)" }
        return [
            ConfigurationProblem(
                path: path, origin: origin,
                message: (names.isEmpty ? "" : "no store has this name, and ")
                    + "no plugin offers the \(kind) component '\(id)'",
                hint: near.map { "did you mean '\($0)'?" } ?? refusal ?? list)
        ]
    }

    /// The options that are passwords, of a component that is not named yet and so does not say which of its are.
    private func exposed(in path: [String], before member: String) -> [ConfigurationProblem] {
        names(path + ["options"]).compactMap { name in
            let place = path + ["options", name]
            guard let (value, origin) = layered.value(at: place).map({ ($0.value, $0.origin) }),
                value != value.withoutPasswords(named: name)
            else { return nil }
            return ConfigurationProblem(
                path: place, origin: origin, message: "it contains a password, which a configuration must not contain",
                hint: "set \(ConfigurationPath(path + [member])) first: the component says which option names a value "
                    + "of the keychain instead")
        }
    }

    /// The problems of a component and its options.
    ///
    /// - Parameters:
    ///   - path: The object that has both.
    ///   - member: The member with the component's id.
    private func component(
        in path: [String], named member: String = "component", _ kind: ComponentKind
    ) -> [ConfigurationProblem] {
        guard let (id, place, origin) = text(at: path + [member]) else { return exposed(in: path, before: member) }
        if let problems = unknown(id, kind, place, origin) { return problems }
        guard let component = components.first(where: { $0.id == id && $0.kind == kind.rawValue }) else { return [] }
        func problem(_ option: String?, _ message: String, _ hint: String) -> ConfigurationProblem {
            let place = path + ["options"] + (option.map { [$0] } ?? [])
            return ConfigurationProblem(
                path: place, origin: layered.value(at: place)?.origin ?? origin, message: message,
                hint: hint.isEmpty ? "see: ld-host plugins inspect \(id)" : hint)
        }
        var (options, problems): ([String: ComponentOption.Value], [ConfigurationProblem]) = ([:], [])
        for name in names(path + ["options"]) {
            guard let value = layered.value(at: path + ["options", name])?.value else { continue }
            if let option = value.option {
                options[name] = option
            } else {
                problems.append(
                    problem(
                        name, "component '\(id)': option '\(name)' is \(value.kind)",
                        "options are text, numbers, true or false, or lists"))
            }
        }
        let resolver = OptionResolver(component: component, folders: folders)
        let unusable = Set(problems.map { $0.path[$0.path.count - 1] })
        for found in resolver.problems(with: options) where !unusable.contains(found.name) {
            problems.append(problem(found.name, "component '\(id)': \(found.message)", found.hint))
        }
        return problems
    }
}
