internal import CLocalData
internal import FoundationEssentials
package import LocalDataAPI

extension PluginImage {
    /// Opens a store as a router does, its options checked and completed, with every folder that they may name below
    /// one. May wait.
    ///
    /// - Throws: `invalidOptions` with every problem, and what the component reports.
    package func openStore(
        _ id: String, options: [String: ComponentOption.Value], folder: String, log: any StorageLogHandler
    ) throws(StorageError) -> LoadedStore {
        guard let component = description.components.first(where: { $0.id == id && $0.kind == LD_KIND_STORAGE }) else {
            throw StorageError(.componentNotFound, "plugin '\(path)' has no storage component '\(id)'")
        }
        let folders = HostSettings.Folders(
            data: "\(folder)/data", cache: "\(folder)/cache", state: "\(folder)/state", config: "\(folder)/config")
        let store = HostSettings.Store(
            name: id, component: id, options: options, origin: "given", concurrency: 1, timeout: .seconds(10),
            sealing: nil)
        let complete = try OptionResolver(component: component, folders: folders).resolve(store)
        return try openStore(id, options: complete, host: HostTable.shared(for: log))
    }

    /// Opens a crypto provider with the defaults of its options. May wait.
    func openCrypto(
        _ id: String, folders: HostSettings.Folders, log: any StorageLogHandler
    ) throws(StorageError) -> LoadedCrypto {
        guard let component = description.components.first(where: { $0.id == id && $0.kind == LD_KIND_CRYPTO }) else {
            throw StorageError(.componentNotFound, "plugin '\(path)' has no crypto component '\(id)'")
        }
        let settings = HostSettings.Store(
            name: id, component: id, options: [:], origin: "encryption.provider", concurrency: 1,
            timeout: .seconds(10), sealing: nil)
        let complete = try OptionResolver(component: component, folders: folders).resolve(settings)
        return try openCrypto(id, options: complete, host: HostTable.shared(for: log))
    }
}
