internal import FoundationEssentials
package import LocalDataAPI

extension PluginImage {
    /// Opens a store as a router does, with its options checked and completed, and with all folder placeholders below
    /// one folder. May wait.
    ///
    /// - Throws: `invalidOptions` with every problem, and what the component reports.
    package func openStore(
        _ id: String, options: [String: ComponentOption.Value], folder: String, log: any StorageLogHandler
    ) throws(StorageError) -> LoadedStore {
        let complete = try complete(options, of: id, .storage, folders: HostSettings.Folders(below: folder))
        return try openStore(id, options: complete, host: HostTable.shared(for: log))
    }

    /// Opens a crypto provider, with its options checked and completed, and with all folder placeholders below one
    /// folder. May wait.
    ///
    /// - Throws: `invalidOptions` with every problem, and what the component reports.
    package func openCrypto(
        _ id: String, options: [String: ComponentOption.Value], folder: String, log: any StorageLogHandler
    ) throws(StorageError) -> LoadedCrypto {
        try openCrypto(id, options: options, folders: HostSettings.Folders(below: folder), log: log)
    }

    /// Opens a crypto provider with the folders of a configuration.
    func openCrypto(
        _ id: String, options: [String: ComponentOption.Value] = [:], folders: HostSettings.Folders,
        log: any StorageLogHandler
    ) throws(StorageError) -> LoadedCrypto {
        let complete = try complete(options, of: id, .crypto, folders: folders)
        return try openCrypto(id, options: complete, host: HostTable.shared(for: log))
    }

    /// Opens a migration pack as a router does, with all folder placeholders below one folder. May wait.
    ///
    /// - Throws: `invalidOptions` with every problem, and what the component reports.
    package func openPack(
        _ id: String, options: [String: ComponentOption.Value], folder: String, timeout: Duration,
        log: any StorageLogHandler
    ) throws(StorageError) -> LoadedPack {
        try openPack(
            HostSettings.Pack(name: id, component: id, options: options, origin: "given", timeout: timeout),
            folders: HostSettings.Folders(below: folder), log: log)
    }

    /// Opens a pack of a configuration.
    func openPack(
        _ pack: HostSettings.Pack, folders: HostSettings.Folders, log: any StorageLogHandler
    ) throws(StorageError) -> LoadedPack {
        let component = try component(pack.component, .migration)
        return try openPack(
            pack.component, name: pack.name,
            options: try OptionResolver(component: component, folders: folders).resolve(pack), timeout: pack.timeout,
            host: HostTable.shared(for: log))
    }

    private func complete(
        _ options: [String: ComponentOption.Value], of id: String, _ kind: ComponentKind, folders: HostSettings.Folders
    ) throws(StorageError) -> Data {
        let component = try component(id, kind)
        let store = HostSettings.Store(
            name: id, component: id, options: options, origin: "given", concurrency: 1, timeout: .seconds(10),
            sealing: nil)
        return try OptionResolver(component: component, folders: folders).resolve(store)
    }
}

extension HostSettings.Folders {
    /// All folders below one.
    fileprivate init(below folder: String) {
        self.init(
            data: "\(folder)/data", cache: "\(folder)/cache", state: "\(folder)/state", config: "\(folder)/config")
    }
}
