package import HostPlugins
package import LocalDataAPI
internal import Synchronization

/// The component to test, and how to open it.
package struct ConformanceSubject: Sendable {
    let image: PluginImage
    let component: PluginDescription.Component
    let kind: ComponentKind
    let options: [String: ComponentOption.Value]
    /// How another process opens the same component; `nil` if none can, or if this process does not belong to the kit.
    let peer: PeerProgram?
    let log = RecordingLog()

    /// - Parameter program: The `ld-host` that can act as another process; requires a plugin file.
    package init(
        image: PluginImage, component id: String, options: [String: ComponentOption.Value], program: String? = nil
    ) throws(StorageError) {
        guard let component = image.description.components.first(where: { $0.id == id }),
            let kind = ComponentKind(rawValue: component.kind)
        else {
            throw StorageError(
                .componentNotFound, "plugin '\(image.path)' has no component '\(id)' of a known kind")
        }
        self.image = image
        self.component = component
        self.kind = kind
        self.options = options
        peer = program.map { PeerProgram(program: $0, file: image.path, component: id, options: options) }
    }

    /// The subject's name in reports.
    var noun: String {
        switch kind {
        case .storage: "store"
        case .crypto: "provider"
        case .migration: "pack"
        case .sync: "transport"
        }
    }

    /// Opens the component, with its folders below `folder`.
    func open(in folder: String) throws(StorageError) -> OpenComponent {
        switch kind {
        case .crypto: .provider(try openProvider(in: folder))
        case .migration: .pack(try openPack(in: folder))
        case .storage: .store(try openStore(in: folder))
        case .sync: .transport(try openTransport(in: folder))
        }
    }

    func openStore(in folder: String) throws(StorageError) -> LoadedStore {
        try image.openStore(component.id, options: options, folder: folder, log: log)
    }

    func openTransport(in folder: String) throws(StorageError) -> LoadedTransport {
        try image.openTransport(component.id, options: options, folder: folder, log: log)
    }

    func openPack(in folder: String) throws(StorageError) -> LoadedPack {
        try image.openPack(component.id, options: options, folder: folder, timeout: .seconds(60), log: log)
    }

    func openProvider(in folder: String) throws(StorageError) -> LoadedCrypto {
        try image.openCrypto(component.id, options: options, folder: folder, log: log)
    }

    /// Ends the check with a failure unless every option has a unique name and a line of help.
    func expectTidyOptions() throws {
        var known: Set<String> = []
        for option in component.options {
            try expect(known.insert(option.name).inserted, "the option '\(option.name)' is listed twice")
            try expect(!option.help.isEmpty, "the option '\(option.name)' has no help")
        }
    }
}

/// Records a component's log messages, so that a check can search them for secrets.
final class RecordingLog: StorageLogHandler {
    let level = StorageLogLevel.debug
    private let kept = Mutex<[String]>([])

    func log(_ level: StorageLogLevel, label: String, _ message: String) { kept.withLock { $0.append(message) } }

    var messages: [String] { kept.withLock { $0 } }
}
