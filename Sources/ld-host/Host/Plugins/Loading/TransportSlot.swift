package import HostGround
package import LocalDataAPI
internal import Synchronization

/// The configured sync transport, opened once, at its first use, and never closed.
package final class TransportSlot: Sendable {
    package let settings: HostSettings.Sync.Transport
    private let open: @Sendable () throws(StorageError) -> LoadedTransport
    private let opened = Mutex<LoadedTransport?>(nil)

    package init(
        _ transport: HostSettings.Sync.Transport, registry: PluginRegistry, folders: HostSettings.Folders,
        secrets: @escaping SecretLookup, log: any StorageLogHandler
    ) {
        settings = transport
        open = { () throws(StorageError) in
            let image = try registry.plugin(offering: transport.component, kind: .sync)
            log(.debug, "router", "opening sync transport '\(transport.component)' of \(image.path)")
            return try image.openTransport(transport, folders: folders, secrets: secrets, log: log)
        }
    }

    /// The open transport, if it has been used.
    var current: LoadedTransport? { opened.withLock { $0 } }

    /// Opens the transport if it is not open. May wait; the next call retries after a failure.
    ///
    /// - Throws: Why the transport cannot be opened, with where it is named.
    package func openIfNeeded() throws(StorageError) -> LoadedTransport {
        try opened.withLock { opened throws(StorageError) in
            if let transport = opened { return transport }
            do throws(StorageError) {
                let transport = try open()
                opened = transport
                return transport
            } catch {
                throw StorageError(
                    error.code,
                    "the sync transport '\(settings.component)' (\(settings.origin)) cannot be used: \(error.message)",
                    hint: error.hint.isEmpty
                        ? "fix it, or remove it with: ld-host config unset sync.transport" : error.hint)
            }
        }
    }
}
