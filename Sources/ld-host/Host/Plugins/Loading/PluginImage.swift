internal import ByteCoding
internal import CLinux
internal import CLocalData
internal import FoundationEssentials
internal import Glibc
package import HostGround
package import LocalDataAPI
internal import Synchronization

/// Reads a secret of the keychain by its address; `nil` for an address without a value. May wait.
package typealias SecretLookup = @Sendable (_ address: String) throws(StorageError) -> SecretBytes?

/// A plugin in this process. It stays loaded until the process ends: a Swift library cannot be unloaded safely.
package final class PluginImage: Sendable {
    /// The real path of the loaded file.
    package let path: String
    /// The plugin's description of itself.
    package let description: PluginDescription
    private let components: [ld_component]

    private init(path: String, table: PluginTable) {
        self.path = path
        description = table.description
        components = table.components
    }

    private static let loaded = Mutex<[String: (identity: FileVersion, image: PluginImage)]>([:])

    /// Loads a plugin, or returns it if it is already loaded.
    ///
    /// Checks, each before the next: who owns the file and could have changed it; whether it is a whole ELF library for
    /// this machine with this ABI's entry function; and, after its code has started to run, its descriptor.
    /// - Throws: `pluginRefused` with the file, what was expected and found, and what to do.
    package static func load(_ path: String) throws(StorageError) -> PluginImage {
        try load(storageErrors { try FileTrust.check(path) })
    }

    /// The same for a file that was checked for who could change it.
    static func load(_ file: TrustedPath) throws(StorageError) -> PluginImage {
        try loaded.withLock { loaded throws(StorageError) in
            if let known = loaded[file.path] {
                guard known.identity == file.identity else {
                    throw StorageError(
                        .pluginRefused, "plugin '\(file.path)' was replaced after this process had loaded it",
                        hint: "restart the process, or install the new version under another path")
                }
                return known.image
            }
            _ = try storageErrors { try PluginFile(checking: file, abiMajor: Int(LD_ABI_MAJOR)) }
            let image = PluginImage(path: file.path, table: try open(file.path))
            loaded[file.path] = (file.identity, image)
            return image
        }
    }

    /// The components that are linked into this program, as into `ld-host` and apps with the product `LocalData`.
    static let ofProgram: [PluginImage] = {
        guard let table = ld_linux_linked_plugin() else { return [] }
        return (try? PluginImage(linked: table, name: "this program")).map { [$0] } ?? []
    }()

    /// Registers a plugin that is linked into this program, by the table that its entry function returns.
    package convenience init(linked table: UnsafeRawPointer, name: String) throws(StorageError) {
        try CallSlot.reserve()
        self.init(path: name, table: try PluginTable(table, file: name))
    }

    private static func open(_ path: String) throws(StorageError) -> PluginTable {
        try CallSlot.reserve()
        // Its code runs from here on and may try to end the process.
        let identity = ComponentIdentity.of(path, "", log: SilentLog())
        try EndingNote.requireSound(identity)
        let call = identity.site("its start")
        guard let library = call.plain({ dlopen(path, RTLD_NOW | RTLD_LOCAL | Int32(RTLD_NODELETE)) }) else {
            let reason = dlerror().map { String(cString: $0) } ?? "no reason given"
            throw StorageError(
                .pluginRefused, "plugin '\(path)' cannot be loaded: \(reason)",
                hint: isOnNoexec(path)
                    ? "its file system is mounted noexec: put the plugin on another one"
                    : "install the libraries that it needs, or rebuild it on this system")
        }
        guard let symbol = dlsym(library, "localdata_plugin_v1") else {
            throw StorageError(.pluginRefused, "plugin '\(path)' does not export localdata_plugin_v1")
        }
        typealias Entry = @convention(c) () -> UnsafeRawPointer?
        return try PluginTable(call.plain(unsafeBitCast(symbol, to: Entry.self)), file: path)
    }

    /// Whether no file of its file system may be run.
    private static func isOnNoexec(_ path: String) -> Bool {
        // `ST_NOEXEC` of statvfs(3), which Swift does not import.
        let noExec: UInt = 8
        var status = statvfs()
        return statvfs(path, &status) == 0 && status.f_flag & noExec != 0
    }

    /// Opens a store of one of the plugin's components. May wait.
    ///
    /// - Parameter secrets: Reads the secrets among the options; `nil` where there is no keychain.
    package func openStore(
        _ id: String, options: ResolvedOptions, secrets: SecretLookup? = nil, host: HostTable, mark: ServingMark? = nil
    ) throws(StorageError) -> LoadedStore {
        let contents = StableHash.of([id, String(decoding: options.identity, as: UTF8.self)])
        return try open(id, .storage, options, secrets, host) { (table, identity) throws(StorageError) in
            try LoadedStore(table: table, identity, contents: contents, mark: mark)
        }
    }

    /// Opens a crypto provider of one of the plugin's components. May wait.
    package func openCrypto(_ id: String, options: ResolvedOptions, host: HostTable) throws(StorageError)
        -> LoadedCrypto
    {
        try open(id, .crypto, options, nil, host) { (table, identity) throws(StorageError) in
            try LoadedCrypto(table: table, identity)
        }
    }

    /// Opens a migration pack of one of the plugin's components. May wait.
    func openPack(
        _ id: String, name: String, options: ResolvedOptions, timeout: Duration, host: HostTable
    ) throws(StorageError) -> LoadedPack {
        let pack = MigrationPackIdentity(
            name: name, component: id, version: description.version, checksum: checksum(with: options.identity))
        return try open(id, .migration, options, nil, host) { (table, identity) throws(StorageError) in
            try LoadedPack(table: table, identity, pack, timeout: timeout)
        }
    }

    /// Opens a sync transport of one of the plugin's components. May wait.
    func openTransport(
        _ id: String, options: ResolvedOptions, secrets: SecretLookup?, host: HostTable
    ) throws(StorageError) -> LoadedTransport {
        try open(id, .sync, options, secrets, host) { (table, identity) throws(StorageError) in
            try LoadedTransport(table: table, identity)
        }
    }

    /// Distinguishes builds of the plugin, and the options that a component is opened with.
    private func checksum(with options: Data) -> String {
        StableHash.text([
            StableHash.ofFile(path).map { String($0, radix: 16) } ?? description.version,
            String(decoding: options, as: UTF8.self),
        ])
    }

    /// Opens a component, and makes what calls it out of its table.
    private func open<Opened>(
        _ id: String, _ kind: ComponentKind, _ options: ResolvedOptions, _ secrets: SecretLookup?, _ host: HostTable,
        _ make: (UnsafeRawPointer?, ComponentIdentity) throws(StorageError) -> Opened
    ) throws(StorageError) -> Opened {
        let options = try options.revealed(by: secrets)
        let component = components[try index(of: id, kind)]
        let identity = ComponentIdentity.of(path, id, log: host.log)
        try EndingNote.requireSound(identity)
        var table: UnsafeRawPointer?
        _ = try identity.site("open").call { error in
            options.withUnsafeBytes { options in
                component.open(component.context, host.pointer, ld_bytes(options), &table, error)
            }
        }
        ExitWork.comeFirst()
        do throws(StorageError) { return try make(table, identity) } catch {
            throw StorageError(error.code, "plugin '\(path)': \(error.message)", hint: error.hint)
        }
    }

    /// Whether the plugin has a component.
    func offers(_ id: String, _ kind: ComponentKind) -> Bool { (try? index(of: id, kind)) != nil }

    /// What the plugin says of one of its components.
    ///
    /// - Throws: `componentNotFound` if it has none of this id and kind.
    package func component(_ id: String, _ kind: ComponentKind) throws(StorageError) -> PluginDescription.Component {
        description.components[try index(of: id, kind)]
    }

    private func index(of id: String, _ kind: ComponentKind) throws(StorageError) -> Int {
        guard let index = description.components.firstIndex(where: { $0.id == id && $0.kind == kind.rawValue }) else {
            throw StorageError(.componentNotFound, "plugin '\(path)' has no \(kind) component '\(id)'")
        }
        return index
    }
}

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
    package func openCrypto(
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

    /// Opens a sync transport as a router does, with all folder placeholders below one folder. May wait.
    ///
    /// - Throws: `invalidOptions` with every problem, and what the component reports.
    package func openTransport(
        _ id: String, options: [String: ComponentOption.Value], folder: String, log: any StorageLogHandler
    ) throws(StorageError) -> LoadedTransport {
        try openTransport(
            HostSettings.Sync.Transport(component: id, options: options, origin: "given"),
            folders: HostSettings.Folders(below: folder), secrets: nil, log: log)
    }

    /// Opens the transport of a configuration.
    func openTransport(
        _ transport: HostSettings.Sync.Transport, folders: HostSettings.Folders, secrets: SecretLookup?,
        log: any StorageLogHandler
    ) throws(StorageError) -> LoadedTransport {
        let component = try component(transport.component, .sync)
        return try openTransport(
            transport.component,
            options: try OptionResolver(component: component, folders: folders).resolve(transport), secrets: secrets,
            host: HostTable.shared(for: log))
    }

    private func complete(
        _ options: [String: ComponentOption.Value], of id: String, _ kind: ComponentKind, folders: HostSettings.Folders
    ) throws(StorageError) -> ResolvedOptions {
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
