internal import FoundationEssentials
package import HostGround
package import LocalDataAPI

/// Converts the options of a configured store, provider, transport or pack for the component's `open`: checked against
/// the component's own list, with defaults filled in and folder placeholders replaced.
package struct OptionResolver {
    package let component: PluginDescription.Component
    let folders: HostSettings.Folders

    package init(component: PluginDescription.Component, folders: HostSettings.Folders) {
        self.component = component
        self.folders = folders
    }

    /// - Throws: `invalidOptions` with every problem: unknown, missing, of the wrong type, or not allowed.
    package func resolve(_ store: HostSettings.Store) throws(StorageError) -> ResolvedOptions {
        try resolve(store.options, of: "store '\(store.name)' (\(store.origin))")
    }

    /// Where a store keeps its values, as far as its options determine it.
    package func location(of store: HostSettings.Store) -> StoreLocation {
        StoreLocation(component.options, checked(store.options).values)
    }

    /// Resolves a pack's options.
    func resolve(_ pack: HostSettings.Pack) throws(StorageError) -> ResolvedOptions {
        try resolve(pack.options, of: "migration pack '\(pack.name)' (\(pack.origin))")
    }

    /// Resolves the options of the sync transport.
    func resolve(_ transport: HostSettings.Sync.Transport) throws(StorageError) -> ResolvedOptions {
        try resolve(transport.options, of: "sync transport (\(transport.origin))")
    }

    /// The problems of options, each with the option's name.
    func problems(
        with options: [String: ComponentOption.Value]
    ) -> [(name: String, message: String, hint: String)] { checked(options).problems }

    private func checked(
        _ options: [String: ComponentOption.Value]
    ) -> (values: [String: ComponentOption.Value], problems: [(name: String, message: String, hint: String)]) {
        var problems: [(name: String, message: String, hint: String)] = []
        var values: [String: ComponentOption.Value] = [:]
        let known = component.options.map(\.name).sorted()
        for name in options.keys.sorted() where !known.contains(name) {
            let near = EditDistance.nearest(to: name, in: known, within: 2)
            problems.append(
                (
                    name,
                    "unknown option '\(name)'"
                        + (known.isEmpty ? "; the component has none" : "; it has \(known.joined(separator: ", "))"),
                    near.map { "did you mean '\($0)'?" } ?? ""
                ))
        }
        for option in component.options {
            guard let value = options[option.name] ?? option.default else {
                if option.required {
                    problems.append((option.name, "option '\(option.name)' is missing: \(option.help)", ""))
                }
                continue
            }
            do { values[option.name] = try check(value, option) } catch {
                problems.append((option.name, error.message, error.hint))
            }
        }
        return (values, problems)
    }

    private func resolve(
        _ options: [String: ComponentOption.Value], of what: String
    ) throws(StorageError) -> ResolvedOptions {
        let (values, problems) = checked(options)
        let secrets = component.options.filter { $0.isSecret && values[$0.name] != nil }.map(\.name)
        guard problems.isEmpty, let resolved = ResolvedOptions(values, secrets: secrets, of: what) else {
            throw StorageError(
                .invalidOptions,
                "\(what), component '\(component.id)': "
                    + problems.map(\.message).joined(separator: "; "),
                hint: "run: ld-host plugins inspect \(component.id)")
        }
        return resolved
    }

    private func check(
        _ value: ComponentOption.Value, _ option: ComponentOption
    ) throws(StorageError) -> ComponentOption.Value {
        switch (option.type, value) {
        case (.string, .string(let text)) where option.isSecret:
            guard let key = try? StorageKeyDescriptor(address: text), key.domain.name == "keychain" else {
                // The text may be the secret itself.
                throw problem(option, "must be the address of a value of the keychain, such as keychain:SERVICE/NAME")
            }
            return value
        case (.string, .string(let text)) where PasswordText.isIn(text): throw password(in: option)
        case (.list, .list(let elements)) where elements.contains(where: Self.hasPassword): throw password(in: option)
        case (.string, .string(let text)):
            if let allowed = option.allowed, !allowed.contains(text) {
                throw problem(option, "is '\(text)'; expected one of \(allowed.joined(separator: ", "))")
            }
            if let pattern = option.pattern, let regex = try? Regex(pattern),
                (try? regex.wholeMatch(in: text)) == nil
            {
                throw problem(option, "is '\(text)'; expected \(option.help)")
            }
            return value
        case (.path, .string(let text)):
            let path = try expand(text, option)
            guard path.hasPrefix("/"), !path.utf8.contains(0) else {
                throw problem(option, "is '\(path)', which is not an absolute path")
            }
            return .string(path)
        case (.integer, .integer), (.number, .number), (.boolean, .boolean), (.list, .list): return value
        case (.number, .integer(let number)): return .number(Double(number))
        default: throw problem(option, "is of the wrong type; expected \(option.type.rawValue)")
        }
    }

    private func expand(_ text: String, _ option: ComponentOption) throws(StorageError) -> String {
        if text.hasPrefix("~/"), let home = ConfigurationLocations.current.home { return home + text.dropFirst() }
        guard text.hasPrefix("${") else { return text }
        for (name, folder) in [
            ("data", folders.data), ("cache", folders.cache), ("state", folders.state), ("config", folders.config),
        ] {
            let placeholder = "${\(name)}"
            if text.hasPrefix(placeholder) { return folder + text.dropFirst(placeholder.count) }
        }
        throw problem(option, "is '\(text)'; expected ${data}, ${cache}, ${state} and ${config}")
    }

    private static func hasPassword(_ element: AnyCodable) -> Bool {
        if case .string(let text) = element.content { PasswordText.isIn(text) } else { false }
    }

    /// The problem of an option that is no secret, but has a password in its text.
    private func password(in option: ComponentOption) -> StorageError {
        let secrets = component.options.filter(\.isSecret).map { "'\($0.name)'" }
        return StorageError(
            .invalidOptions, "option '\(option.name)' contains a password, which a configuration must not contain",
            hint: "remove it, and change the password, since it was exposed"
                + (secrets.isEmpty
                    ? ""
                    : "; name a value of the keychain in option \(secrets.joined(separator: " or ")) instead"))
    }

    private func problem(_ option: ComponentOption, _ what: String) -> StorageError {
        StorageError(.invalidOptions, "option '\(option.name)' \(what)")
    }
}
