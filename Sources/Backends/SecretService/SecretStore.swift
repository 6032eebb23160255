internal import CSecret
internal import Glibc
internal import LocalDataPluginAPI

/// Keeps values in the desktop's keyring: gnome-keyring, KWallet, KeePassXC or any other service that implements
/// org.freedesktop.secrets, over libsecret.
///
/// A value is an item's secret; ``ItemAttributes`` defines how items are found, and ``SecretLine`` how values are
/// written. In the domain `keychain`, other programs' items are ordinary values: `set` replaces the secret of an
/// existing item, whoever created it, and keeps its label and its other attributes. If several items have one address,
/// the newest counts; of two of the same second, the one that we created, then the one with the greater path. `set`
/// removes the others that we created, `remove` all.
///
/// Only the collection in the options is searched. If another one has become the default collection since, what was
/// stored in the default one is not absent: calls fail and name where it is. Searching never asks for a password, so
/// `exists` does not unlock anything; the other calls do if they meet a lock. A write becomes visible as a whole. It is
/// not durable: gnome-keyring replaces its file by a rename and does not wait for the disk.
///
/// The option `timeout` limits every call; the option `promptTimeout` limits the person's additional time. A missing,
/// ended or late service or bus is an error of the call that meets it, and of no later one. Errors: `storeUnavailable`
/// without a bus or a service, or when a read lost it; `timedOut` for a service that does not answer, for a prompt that
/// nobody answers, and for a change whose service ended meanwhile; `cancelled` for a dismissed prompt; `keychainError`
/// for a locked object if nobody can be asked, and for what the service refuses.
final class SecretStore: StorageBackend {
    static let component = ComponentInfo(
        id: "secret-service", summary: "keeps values in the desktop's keyring (org.freedesktop.secrets)",
        options: ServiceOptions.list)

    let properties = StoreProperties(
        latency: .interactive, isDurable: false, isShared: true, isKeychain: true,
        enforcedAccessibilities: [.afterFirstUnlock], largestValue: UInt64(SecretStore.largestValue))
    /// gnome-keyring rewrites its whole file at each change, within 5 s.
    private static let largestValue = 16 << 20

    let options: ServiceOptions
    let keeper: LinkKeeper
    let unlocking = Unlocking()

    /// Opens a store; does not connect yet.
    init(options: ComponentOptions, host: HostServices) throws {
        self.options = try ServiceOptions(options)
        GLibLibrary.prepare(log: host.log)
        keeper = LinkKeeper(seconds: self.options.timeout, bus: self.options.bus)
    }

    func resolve(_ address: StorageAddress) throws -> SecretKey { try SecretKey(address) }

    func get(_ key: SecretKey, _ deliver: (RawSpan) -> Void) throws -> Bool {
        try perform("reading '\(key.address)'") { service in
            guard let item = try find(key, service)?.item, let secret = try service.secret(of: item) else {
                return false
            }
            try read(secret, of: key, service, deliver)
            return true
        }
    }

    func exists(_ key: SecretKey) throws -> Bool {
        try perform("looking for '\(key.address)'", unlocks: false) { service in
            guard let collection = try service.path(of: options.collection) else { return false }
            let items = try service.items(with: key.attributes, in: collection) ?? []
            if items.isEmpty { try checkAbsence(of: key.attributes, in: collection, service) }
            return !items.isEmpty
        }
    }

    func set(_ key: SecretKey, to value: RawSpan, attributes: ValueAttributes?) throws {
        guard value.byteCount <= Self.largestValue else {
            throw StorageError(
                .valueTooLarge,
                "the value of '\(key.address)' has \(value.byteCount) bytes; expected at most \(Self.largestValue)",
                hint: "keep large values in a sealed store, and only the key in the secret service")
        }
        let kept = try ItemAttributesText.text(attributes)
        try SecretLine.with(value, keepsEscapes: { !KeyringFiles.someAreReadable }) { line in
            try perform("writing '\(key.address)'") { service in
                let found = try find(key, service)
                guard let secret = try service.session.sealed(line) else {
                    throw StorageError(.keychainError, "libsecret cannot encrypt the value of '\(key.address)'")
                }
                guard let found else { return try make(key, kept, secret, service) }
                try change(found, to: secret, kept, service)
            }
        }
    }

    func remove(_ key: SecretKey) throws -> Bool {
        try perform("removing '\(key.address)'") { service in
            guard let found = try find(key, service) else { return false }
            var isRemoved = false
            for item in [found.item] + found.others where try delete(item, service) { isRemoved = true }
            return isRemoved
        }
    }

    /// Passes the value in a secret.
    func read(_ secret: Variant, of key: SecretKey, _ service: Service, _ deliver: (RawSpan) -> Void) throws {
        let isRead: Void? = try service.session.opened(secret) { SecretLine.read($0, deliver) }
        guard isRead != nil else {
            throw StorageError(
                .corrupt, "the secret service returned a secret for '\(key.address)' that libsecret cannot decrypt",
                hint: "inspect the item with seahorse or secret-tool")
        }
    }
}

extension SecretStore: AttributedBackend {
    /// Reads the value too, because the size is that of the value, not of the text that encodes it.
    func attributes(of key: SecretKey) throws -> ValueAttributes? {
        try perform("reading the attributes of '\(key.address)'") { service in
            guard let item = try find(key, service)?.item, let secret = try service.secret(of: item),
                let properties = try service.properties(of: [item]).first ?? nil
            else { return nil }
            var attributes = ItemAttributesText.attributes(properties.attributes[ItemAttributes.kept])
            try read(secret, of: key, service) { attributes.size = UInt64($0.byteCount) }
            attributes.modified = Int64(clamping: min(properties.modified, 9_000_000_000)) * 1_000_000_000
            return attributes
        }
    }
}

extension SecretStore: EnumerableBackend {
    func forEachName(
        in place: StorageNamespace, prefix: String, after: String?, limit: Int?, _ body: (String) -> Bool
    ) throws {
        let addresses = try addresses(with: ItemAttributes.of(place), "listing '\(place)'")
        let names = addresses.filter { address in
            address.place == place && address.name.utf8.starts(with: prefix.utf8)
                && after.map { $0.utf8.lexicographicallyPrecedes(address.name.utf8) } ?? true
        }.map(\.name).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        for name in names.prefix(limit ?? names.count) where !body(name) { return }
    }

    func forEachPlace(_ body: (StorageNamespace) -> Bool) throws {
        let places = Set(try addresses(with: [:], "listing \(options.collection)").map(\.place))
        for place in places where !body(place) { return }
    }

    /// The addresses of all items with these attributes.
    private func addresses(with attributes: [String: String], _ work: String) throws -> Set<StorageAddress> {
        try perform(work) { service in
            guard let collection = try service.path(of: options.collection) else { return [] }
            // A locked collection reveals enough of its items' attributes to find them, but not to read them.
            if try service.orMissing({ try service.isLocked(collection) }) == true { throw Locked(path: collection) }
            let items = try service.items(with: attributes, in: collection) ?? []
            try checkDefault(collection, has: attributes, service)
            return Set(try service.attributes(of: items).compactMap { $0.flatMap(ItemAttributes.address) })
        }
    }
}

extension SecretStore {
    /// Runs `body` on a link, and again if the service has restarted or a collection was unlocked. Converts failures
    /// into the store's errors.
    ///
    /// - Parameter unlocks: Whether a person may be asked for a password.
    func perform<Result>(
        _ work: String, unlocks: Bool = true, _ body: (Service) throws -> Result
    ) throws -> Result {
        // Limits far above what one call normally meets, so that a persistent failure ends.
        var attempts = (sessions: 2, locks: 3, races: 20)
        var deadline = BusDeadline(seconds: options.timeout)
        while true {
            var service: Service?
            do {
                let open = Service(link: try keeper.link(until: deadline), deadline: deadline)
                service = open
                return try body(open)
            } catch let locked as Locked {
                guard let link = service?.link, unlocks, attempts.locks > 0 else { throw lockedError(work) }
                attempts.locks -= 1
                try unlock(locked.path, link, work)
                // The person's time does not count as the service's.
                deadline = BusDeadline(seconds: options.timeout)
            } catch let failure as BusFailure {
                if failure.isForgottenSession, let link = service?.link, attempts.sessions > 0 {
                    attempts.sessions -= 1
                    keeper.drop(link)
                } else if failure.isMissingObject, attempts.races > 0 {
                    // An object that was found a moment ago has been removed.
                    attempts.races -= 1
                } else {
                    if case .gone = failure, let link = service?.link { keeper.drop(link) }
                    throw StorageError(failure, work, isChange: service?.effects.mayHaveChanged ?? false, options)
                }
            }
        }
    }

    func lockedError(_ work: String) -> StorageError {
        StorageError(
            .keychainError, "\(options.collection) is locked, and \(work) needs its password",
            hint: "unlock it in seahorse or by logging in, or set option 'promptTimeout' above 0")
    }
}

extension SecretStore {
    /// Unlocks an object for all waiting threads; a person is asked once.
    func unlock(_ path: String, _ link: ServiceLink, _ work: String) throws {
        let patience = BusDeadline(seconds: options.promptTimeout + 2 * options.timeout)
        try unlocking.once(until: patience) { () throws(StorageError) in
            let service = Service(link: link, deadline: BusDeadline(seconds: options.timeout))
            do {
                try finish(service.unlock(path), service)
            } catch let error as StorageError {
                throw error
            } catch is Locked {
                throw lockedError(work)
            } catch let failure as BusFailure where failure.isMissingObject {
                // The object is gone; the call that needs it will notice.
            } catch let failure as BusFailure {
                throw StorageError(failure, "unlocking \(options.collection)", isChange: false, options)
            } catch { throw StorageError(.unknown, "\(error)") }
        }
    }

    /// Waits for the prompt of a service call, if there is one, and returns the prompt's result.
    @discardableResult
    func finish(_ prompt: String?, _ service: Service) throws -> Variant? {
        guard let prompt else { return nil }
        guard options.promptTimeout > 0 else { throw Locked(path: prompt) }
        let deadline = BusDeadline(seconds: options.timeout)
        switch try Prompt(link: service.link, path: prompt).ask(seconds: options.promptTimeout, until: deadline) {
        case .completed(let result): return result
        case .unanswered:
            throw StorageError(
                .timedOut,
                "nobody answered the secret service's prompt for \(options.collection) within "
                    + "\(options.promptTimeout) s",
                hint: "unlock it first, or raise option 'promptTimeout'")
        case .dismissed where isWithoutScreen(service):
            throw StorageError(
                .keychainError,
                "\(options.collection) is locked or missing, and there is no screen to ask for its password on",
                hint: "unlock it first: gnome-keyring-daemon --unlock reads the login's password from standard input")
        case .dismissed:
            throw StorageError(
                .cancelled, "the secret service's prompt for \(options.collection) was dismissed",
                hint: "repeat the call and answer it, or unlock the collection in seahorse")
        }
    }

    /// Whether the service is gnome-keyring without a screen: it reports a prompt as dismissed when its prompt program
    /// does not start.
    private func isWithoutScreen(_ service: Service) -> Bool {
        guard getenv("DISPLAY") == nil, getenv("WAYLAND_DISPLAY") == nil else { return false }
        func owner(_ name: String) -> String? {
            let method = BusMethod(
                "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetNameOwner", .tuple(.string(name)), answer: "(s)")
            let deadline = BusDeadline(seconds: options.timeout)
            return try? service.link.call(method, of: "org.freedesktop.DBus", until: deadline)[0]?.text
        }
        guard let keyring = owner("org.gnome.keyring"), keyring == owner(ServiceLink.serviceName) else { return false }
        return owner("org.gnome.keyring.SystemPrompter") == nil
    }

    /// Creates the collection; returns its path.
    func makeCollection(_ service: Service) throws -> String {
        switch options.collection {
        case .login, .session:
            throw StorageError(
                .storeUnavailable, "the secret service has no collection of that kind: \(options.collection)",
                hint: "log in with a password, or set option 'collection' to default")
        case .standard, .labelled: break
        }
        let answer = try service.make(options.collection)
        let path = try answer.path ?? finish(answer.prompt, service)?.text
        guard let path, path != "/" else {
            throw StorageError(.keychainError, "the secret service did not create \(options.collection)")
        }
        if case .labelled(let label) = options.collection { service.link.keep(path, ofCollection: label) }
        return path
    }
}
