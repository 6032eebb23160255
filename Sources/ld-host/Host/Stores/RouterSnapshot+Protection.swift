internal import HostGround
internal import HostPlugins
internal import HostSealing
package import LocalDataAPI
internal import Synchronization

/// How a key's values are protected here.
package struct Protection: Sendable {
    /// How a policy is applied.
    package enum Outcome: Sendable {
        /// These layers apply it to every value, innermost first.
        case layers([SealingLayer])
        /// It cannot be applied: values can be neither read nor written.
        case refused(StorageError)
    }

    package var outcome: Outcome
    /// The part of the policy that cannot be enforced but is accepted, because the configuration calls it advisory.
    package var advisory: String?
}

extension RouterSnapshot {
    /// How a key's values are protected in an open store. May wait.
    package func protection(of security: SecurityPolicy, at address: StorageAddress, in open: OpenStore) -> Protection {
        let own = open.sealing.map { [$0.layer(for: address)] } ?? []
        do throws(StorageError) {
            if !settings.sealsMemory, open.isGoneWithProcess {
                try refusePlain(security, at: address)
                return Protection(outcome: .layers(own), advisory: "values are only in this process's memory")
            }
            let advisory = try self.advisory(security, at: address, in: open)
            guard let policy = encryption(for: security, in: address.place.domain) else {
                return Protection(outcome: .layers(own), advisory: advisory)
            }
            return Protection(outcome: .layers([try layer(policy, at: address)] + own), advisory: advisory)
        } catch {
            return Protection(outcome: .refused(error), advisory: nil)
        }
    }

    /// The encryption that a policy demands; `nil` for none.
    private func encryption(for security: SecurityPolicy, in domain: String) -> SecurityPolicy.EncryptionPolicy? {
        switch security {
        case .encrypted(let policy): policy
        // Whatever the key's policy, this domain encrypts.
        case .none, .keychain: domain == "encryptedFileSystem" ? .recommended : nil
        }
    }

    /// The part of a policy that is not enforced, if the configuration accepts that.
    ///
    /// - Throws: `securityApplicationFailed` if it does not.
    private func advisory(
        _ security: SecurityPolicy, at address: StorageAddress, in open: OpenStore
    ) throws(StorageError) -> String? {
        let domain = address.place.domain
        try refusePlain(security, at: address)
        guard case .keychain(let accessibility, let control) = security else { return nil }
        let properties = open.store.properties
        guard domain == "keychain" ? open.isKeychain : domain == "encryptedFileSystem" else {
            throw refusal(
                security, address, "no store here can do that",
                domain == "keychain"
                    ? "seal the store, e.g. ld-host config set stores.NAME.sealing keyFile, or map the domain "
                        + "to another store"
                    : "give the key the domain keychain or encryptedFileSystem, or the policy encrypted")
        }
        var advisory: [String] = []
        if let control, !properties.enforcedAccessControls.contains(control) {
            guard settings.isAccessControlAdvisory else {
                throw refusal(
                    security, address, "no store here can enforce '\(control.rawValue)'",
                    "remove the access control, or accept that it is not enforced: "
                        + "StorageConfiguration(accessControl: .advisory) with updateStorageConfiguration in the app, or "
                        + "ld-host config set keychain.accessControl advisory for all")
            }
            advisory.append("'\(control.rawValue)' is not enforced")
        }
        // A keychain that is sometimes locked protects values for `always` no less.
        let enforced = properties.enforcedAccessibilities.union([.always, .alwaysThisDeviceOnly])
        if !enforced.contains(accessibility) {
            guard settings.isAccessibilityAdvisory else {
                throw refusal(
                    security, address, "no store here knows whether the device is unlocked",
                    "use the accessibility 'always', or accept that it is not enforced: "
                        + "StorageConfiguration(accessibility: .advisory) with updateStorageConfiguration in the app, or "
                        + "ld-host config set keychain.accessibility advisory for all")
            }
            advisory.append("values can be read whenever this user's programs run")
        }
        return advisory.isEmpty ? nil : advisory.joined(separator: "; ")
    }

    /// - Throws: `securityApplicationFailed` for a key without a policy in the keychain.
    private func refusePlain(_ security: SecurityPolicy, at address: StorageAddress) throws(StorageError) {
        guard security == .none, address.place.domain == "keychain" else { return }
        throw StorageError(
            .securityApplicationFailed,
            "'\(address)' has security none in 'keychain', which never keeps plain values",
            hint: "give the key another policy, or another domain")
    }

    private func layer(
        _ policy: SecurityPolicy.EncryptionPolicy, at address: StorageAddress
    ) throws(StorageError) -> SealingLayer {
        do throws(StorageError) {
            switch policy {
            case .aes256(let derivation):
                return try rings.layer(for: address, style: EnvelopeStyle(.aes256GCM, style(derivation)))
            case .chacha20Poly1305(let derivation):
                return try rings.layer(for: address, style: EnvelopeStyle(.chaCha20Poly1305, style(derivation)))
            case .external(let source, let derivation):
                let style = EnvelopeStyle(.chaCha20Poly1305, try style(derivation))
                return SealingLayer(
                    keys: .external(source, keyName: address.name, of: providers),
                    envelope: Envelope(address, crypto: try crypto.openIfNeeded()), style: style,
                    limit: DerivationLimit(style.derivation, iterations: settings.encryption.iterations))
            }
        } catch {
            throw refusal(.encrypted(policy), address, error.message, error.hint)
        }
    }

    private func style(
        _ derivation: SecurityPolicy.KeyDerivation
    ) throws(StorageError) -> KeyDerivation {
        switch derivation {
        case .hkdf(let salt, let info): return .hkdf(salt: salt, info: info)
        case .pbkdf2(let iterations, let salt):
            let count = iterations ?? Int(settings.encryption.iterations)
            guard let count = UInt32(exactly: count), (1...EnvelopeDerivation.mostIterations).contains(count) else {
                throw StorageError(
                    .securityApplicationFailed,
                    "\(count) PBKDF2 iterations are configured; expected 1 to \(EnvelopeDerivation.mostIterations)",
                    hint: "600,000 is a good number")
            }
            return .pbkdf2(iterations: count, salt: salt)
        }
    }

    private func refusal(
        _ security: SecurityPolicy, _ address: StorageAddress, _ why: String, _ hint: String
    ) -> StorageError {
        StorageError(
            .securityApplicationFailed,
            "'\(address)' has the policy \(security), which cannot be applied: \(why); "
                + "nothing was read or written",
            hint: hint)
    }

    /// Whether an address of an open store belongs to the host: any of its own keychain service, a key ring, the key of
    /// a store's ring, or an entry of the list of rings. May wait.
    package func isReserved(_ address: StorageAddress, in open: OpenStore) throws(StorageError) -> Bool {
        if isConfigured(address) || RingList.holds(address.place) { return true }
        guard address.place.domain == "keychain" else { return false }
        return try list(in: open).keepsAppsAway(from: address.place.scope, address.name)
    }

    /// Returns a function that recognizes the host's own names in a namespace, as of now. May wait.
    package func reservedNames(
        in place: StorageNamespace, of open: OpenStore
    ) throws(StorageError) -> @Sendable (String) -> Bool {
        guard place.domain == "keychain" else { return { _ in false } }
        if place.scope == RingList.ownService { return { _ in true } }
        let list = list(in: open)
        let accounts = try list.accounts(of: place.scope)
        return { name in
            self.isConfigured(StorageAddress(place, name: name)) || accounts.contains(name)
                || list.wasLocked(place.scope, name)
        }
    }

    private func list(in open: OpenStore) -> RingList { RingList(open: open, folder: settings.folders.rings) }

    /// Whether the configuration reserves an address for the host.
    package func isConfigured(_ address: StorageAddress) -> Bool {
        guard address.place.domain == "keychain" else { return false }
        func isKey(_ service: String, _ account: String) -> Bool {
            address.place.scope == service && address.name == account
        }
        if isKey(settings.encryption.service, settings.encryption.account) { return true }
        if isKey(HostSettings.Encryption.defaultService, HostSettings.Encryption.defaultAccount) { return true }
        return isStoreKey(address.place.scope, address.name)
    }

    /// Whether the configuration names a value of the keychain as the key of a store's ring.
    package func isStoreKey(_ service: String, _ account: String) -> Bool {
        settings.stores.values.contains { $0.sealing?.source == .keychain(service: service, account: account) }
    }
}
