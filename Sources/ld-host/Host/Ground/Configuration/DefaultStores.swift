internal import FoundationEssentials
package import LocalDataAPI

/// The stores that values were first kept in because the plugin of the built-in default was not there: an app that has
/// only the stores that it links keeps `userDefaults` in files. It stays so when the plugin is installed later, for all
/// programs of this user: a change of the default would hide what is stored.
package struct DefaultStores {
    private let folder: String

    /// - Parameter folder: The folder of data, to which the choice belongs.
    package init(in folder: String) { self.folder = folder }

    /// The file with the choice.
    var file: String { "\(folder)/default-stores.json" }

    /// The choice as a layer right above the built-in defaults; `nil` if none was made.
    ///
    /// - Throws: `invalidConfiguration` if the file is there and cannot be understood.
    package func layer() throws(StorageError) -> ConfigurationLayer? {
        guard let data = HostFile.contents(of: file, ownedByUser: false, limit: 1 << 16) else { return nil }
        guard let stores = try? JSONDecoder().decode([String: String].self, from: data) else {
            throw StorageError(
                .invalidConfiguration, "'\(file)' is damaged; it says which store keeps a domain without a setting",
                hint: "name the store in the configuration, e.g. domains.userDefaults, and remove the file")
        }
        return layer(stores)
    }

    /// A choice as a layer.
    package func layer(_ stores: [String: String]) -> ConfigurationLayer {
        ConfigurationLayer(
            .default, source: file, value: .object(["domains": .object(stores.mapValues { .string($0) })]))
    }

    /// Makes the choice, unless another process has made one meanwhile.
    package func choose(_ store: String, for domain: String) throws(StorageError) {
        try FileLock("\(file).lock").exclusive { (_) throws(StorageError) in
            guard try layer() == nil else { return }
            let encoder = JSONEncoder()
            let data = try storageErrors { try encoder.encode([domain: store]) }
            try HostFile.write(data, to: file)
            ConfigurationPage.ofUser.note(file)
        }
    }
}

extension HostConfiguration {
    /// This configuration with the choices that belong to its folder of data.
    ///
    /// - Throws: As ``DefaultStores/layer()``.
    package func withDefaultStores() throws(StorageError) -> HostConfiguration {
        guard let folder = try? folders().data, let layer = try DefaultStores(in: folder).layer() else { return self }
        return above(layer)
    }

    /// This configuration with a layer right above the built-in defaults, in place of an earlier one.
    package func above(_ layer: ConfigurationLayer) -> HostConfiguration {
        var changed = self
        let others = layered.layers.dropFirst().filter { $0.name != .default }
        changed.layered = LayeredConfiguration(layers: layered.layers.prefix(1) + [layer] + others)
        return changed
    }
}
