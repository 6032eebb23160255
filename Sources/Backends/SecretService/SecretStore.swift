package import LocalDataAPI

/// Keeps values in the desktop's keyring: gnome-keyring, KWallet, KeePassXC or any other service that implements
/// org.freedesktop.secrets, over libsecret.
///
/// A value is an item's secret; ``ItemAttributes`` defines how items are found, and ``SecretLine`` how values are
/// written. In the domain `keychain`, other programs' items are ordinary values: `set` replaces the secret of an
/// existing item, whoever created it, and keeps its label and its other attributes. If several items have one address,
/// the newest counts; of two of the same second, the one that we created, then the one with the greater path. `set`
/// removes the others that we created, `remove` all.
///
/// Only the collection in the options is searched. Searching never asks for a password, so `exists` does not unlock
/// anything; the other calls do if they meet a lock. A write becomes visible as a whole. It is not durable:
/// gnome-keyring replaces its file by a rename and does not wait for the disk.
///
/// The option `timeout` limits every call; the option `promptTimeout` limits the person's additional time. A missing,
/// ended or late service or bus is an error of the call that meets it, and of no later one. Errors: `storeUnavailable`
/// without a bus or a service, or when a read lost it; `timedOut` for a service that does not answer, for a prompt that
/// nobody answers, and for a change whose service ended meanwhile; `cancelled` for a dismissed prompt; `keychainError`
/// for a locked object if nobody can be asked, and for what the service refuses.
package final class SecretStore: StorageBackend {
    package static let component = ComponentInfo(
        id: "secret-service", summary: "keeps values in the desktop's keyring (org.freedesktop.secrets)",
        options: ServiceOptions.list)

    package let properties = StoreProperties(
        latency: .interactive, isDurable: false, isShared: true, isKeychain: true,
        enforcedAccessibilities: [.afterFirstUnlock], largestValue: UInt64(SecretStore.largestValue))
    /// gnome-keyring rewrites its whole file at each change, within 5 s.
    private static let largestValue = 16 << 20

    let options: ServiceOptions
    let keeper: LinkKeeper
    let unlocking = Unlocking()

    /// Opens a store; does not connect yet.
    package init(options: ComponentOptions, host: HostServices) throws {
        self.options = try ServiceOptions(options)
        LibraryState.prepare(log: host.log)
        keeper = LinkKeeper(seconds: self.options.timeout, bus: self.options.bus)
    }

    package func resolve(_ address: StorageAddress) throws -> SecretKey { try SecretKey(address) }

    package func get(_ key: SecretKey, _ deliver: (RawSpan) -> Void) throws -> Bool {
        try perform("reading '\(key.address)'") { service in
            guard let item = try find(key, service)?.item, let secret = try service.secret(of: item) else {
                return false
            }
            try read(secret, of: key, service, deliver)
            return true
        }
    }

    package func exists(_ key: SecretKey) throws -> Bool {
        try perform("looking for '\(key.address)'", unlocks: false) { service in
            guard let collection = try service.path(of: options.collection) else { return false }
            guard let items = try service.items(with: key.attributes, in: collection) else { return false }
            if items.isEmpty { try checkAbsence(in: collection, service) }
            return !items.isEmpty
        }
    }

    package func set(_ key: SecretKey, to value: RawSpan, attributes: ValueAttributes?) throws {
        guard value.byteCount <= Self.largestValue else {
            throw StorageError(
                .valueTooLarge,
                "the value of '\(key.address)' has \(value.byteCount) bytes; at most \(Self.largestValue) are possible",
                hint: "keep large values in a sealed store, and only the key in the secret service")
        }
        let kept = try KeptAttributes.text(attributes)
        try SecretLine.with(value, keepsEscapes: { !KeyringFiles.someAreReadable }) { line in
            try perform("writing '\(key.address)'") { service in
                guard let secret = service.link.sealed(line) else {
                    throw StorageError(.keychainError, "libsecret cannot encrypt the value of '\(key.address)'")
                }
                guard let found = try find(key, service) else {
                    return try make(key, kept, secret, service)
                }
                try change(found, to: secret, kept, service)
            }
        }
    }

    package func remove(_ key: SecretKey) throws -> Bool {
        try perform("removing '\(key.address)'") { service in
            guard let found = try find(key, service) else { return false }
            var isRemoved = false
            for item in [found.item] + found.others where try delete(item, service) { isRemoved = true }
            return isRemoved
        }
    }

    /// Passes the value in a secret.
    func read(_ secret: Variant, of key: SecretKey, _ service: Service, _ deliver: (RawSpan) -> Void) throws {
        let isRead: Void? = service.link.opened(secret) { SecretLine.read($0, deliver) }
        guard isRead != nil else {
            throw StorageError(
                .corrupt, "the secret service returned a secret for '\(key.address)' that libsecret cannot decrypt",
                hint: "inspect the item with seahorse or secret-tool")
        }
    }
}
