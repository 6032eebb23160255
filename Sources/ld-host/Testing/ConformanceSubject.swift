package import LocalDataAPI
package import LocalDataHost

/// The component that is tried, and how its stores are opened.
package struct ConformanceSubject: Sendable {
    let image: PluginImage
    let component: PluginDescription.Component
    let options: [String: ComponentOption.Value]
    /// How another process opens the same store; `nil` if none can.
    let peer: PeerProgram?
    let log = RecordingLog()

    /// - Parameter program: The `ld-host` that can act as another process; needs a plugin that is a file.
    package init(
        image: PluginImage, component id: String, options: [String: ComponentOption.Value], program: String? = nil
    ) throws(StorageError) {
        guard let component = image.description.components.first(where: { $0.id == id }), component.kind == 1 else {
            throw StorageError(.componentNotFound, "plugin '\(image.path)' has no storage component '\(id)'")
        }
        self.image = image
        self.component = component
        self.options = options
        peer = program.map { PeerProgram(program: $0, file: image.path, component: id, options: options) }
    }

    /// Opens a store whose folders are below `folder`.
    func open(in folder: String) throws(StorageError) -> LoadedStore {
        try image.openStore(component.id, options: options, folder: folder, log: log)
    }
}
