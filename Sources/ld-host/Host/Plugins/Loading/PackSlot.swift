package import HostGround
package import LocalDataAPI
internal import Synchronization

/// A configured migration pack, opened once, at its first use, and never closed.
package final class PackSlot: Sendable {
    package let settings: HostSettings.Pack
    private let open: @Sendable () throws(StorageError) -> LoadedPack
    private let opened = Mutex<LoadedPack?>(nil)

    package init(
        _ pack: HostSettings.Pack, registry: PluginRegistry, folders: HostSettings.Folders,
        log: any StorageLogHandler
    ) {
        settings = pack
        open = { () throws(StorageError) in
            let image = try registry.plugin(offering: pack.component, kind: .migration)
            log(.debug, "router", "opening migration pack '\(pack.name)' of \(image.path)")
            return try image.openPack(pack, folders: folders, log: log)
        }
    }

    /// The open pack, if it has been used.
    package var current: LoadedPack? { opened.withLock { $0 } }

    /// Opens the pack if it is not open. May wait; the next call retries after a failure.
    ///
    /// - Throws: Why the pack cannot be opened, with its name.
    package func openIfNeeded() throws(StorageError) -> LoadedPack {
        try opened.withLock { opened throws(StorageError) in
            if let pack = opened { return pack }
            do throws(StorageError) {
                let pack = try open()
                opened = pack
                return pack
            } catch {
                throw StorageError(
                    error.code,
                    "the migration pack '\(settings.name)' (\(settings.origin)) cannot be used: \(error.message)",
                    hint: error.hint.isEmpty
                        ? "fix it, or remove it with: ld-host config unset migrations.packs.\(settings.name)"
                        : error.hint)
            }
        }
    }
}

/// The configured crypto provider, opened once, at its first use.
package final class CryptoSlot: Sendable {
    private let open: @Sendable () throws(StorageError) -> LoadedCrypto
    private let opened = Mutex<LoadedCrypto?>(nil)

    package init(open: @escaping @Sendable () throws(StorageError) -> LoadedCrypto) { self.open = open }

    /// Opens the provider if it is not open. May wait; the next call retries after a failure.
    package func openIfNeeded() throws(StorageError) -> LoadedCrypto {
        try opened.withLock { opened throws(StorageError) in
            if let crypto = opened { return crypto }
            let crypto = try open()
            try crypto.require(KeyDerivationFunction.hkdfSHA256.rawValue, "\(KeyDerivationFunction.hkdfSHA256)")
            try crypto.checkKnownAnswers()
            opened = crypto
            return crypto
        }
    }
}
