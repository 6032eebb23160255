internal import FoundationEssentials
internal import HostGround
package import HostSealing
package import LocalDataAPI

/// One seal around the values of an address: by a key's policy, or by their store.
package final class SealingLayer: Sendable {
    /// The source of its keys.
    package enum Keys: Sendable {
        /// A ring, and the rings that headers name.
        case ring(KeyRing, named: @Sendable (String?) throws(StorageError) -> KeyRing)
        /// Material that one of the app's providers supplies for each call.
        case external(KeyMaterialSource, keyName: String, of: KeyMaterialProviders)
        /// Material that was supplied for this call.
        case supplied(EnvelopeKey)
    }

    package let keys: Keys
    package let envelope: Envelope
    package let style: EnvelopeStyle
    /// The highest cost of a header's derivation; `nil` for the specification's limit.
    package let limit: DerivationLimit?

    package init(keys: Keys, envelope: Envelope, style: EnvelopeStyle, limit: DerivationLimit? = nil) {
        self.keys = keys
        self.envelope = envelope
        self.style = style
        self.limit = limit
    }

    /// Finds the key that a header names. May wait.
    func find(_ header: EnvelopeHeader) throws(StorageError) -> EnvelopeKey {
        try limit?.check(header.derivation, at: envelope.context.address)
        return switch keys {
        case .ring(let ring, let named):
            try (header.ring == ring.headerName ? ring : named(header.ring))
                .key(for: header.keyID, opening: envelope.context.address)
        case .supplied(let key): key
        case .external(let source, _, _):
            throw StorageError(.securityApplicationFailed, "the key material of '\(source.id)' is missing")
        }
    }

    /// Whether a header's key and derivation are available without blocking the caller.
    func opensAtOnce(_ header: EnvelopeHeader) -> Bool {
        !header.derivation.isSlow && knows(header)
    }

    /// Whether a header's key is available without waiting.
    func knows(_ header: EnvelopeHeader) -> Bool {
        switch keys {
        case .ring(let ring, _): return header.ring == ring.headerName && ring.knows(header.keyID)
        case .supplied: return true
        case .external: return false
        }
    }

    /// Called right before the last piece of a value is stored that one of the layer's keys seals; see
    /// ``RingSharing``. May wait.
    func keepIfLate(_ key: EnvelopeKey) throws(StorageError) {
        if key.isLate, case .ring(let ring, _) = keys { try ring.keep(key, renewing: true) }
    }

    /// Whether sealing may take long.
    var isSlow: Bool {
        if case .hkdf = style.derivation { false } else { true }
    }
}

extension Collection<SealingLayer> {
    /// Lends the sealing keys, innermost layer first, until `body` has stored what it sealed. May wait.
    ///
    /// - Parameter place: Where `body` stores it; `nil` if it does not outlive the process.
    package func whileSealing<Result>(
        in place: SealedPlace?, _ keys: [EnvelopeKey] = [], _ body: ([EnvelopeKey]) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        guard let layer = first else { return try body(keys) }
        switch layer.keys {
        case .ring(let ring, _):
            return try ring.whileSealing(in: place.map { [$0] } ?? []) { (key) throws(StorageError) in
                try dropFirst().whileSealing(in: place, keys + [key], body)
            }
        case .supplied(let key): return try dropFirst().whileSealing(in: place, keys + [key], body)
        case .external(let source, _, _):
            throw StorageError(.securityApplicationFailed, "the key material of '\(source.id)' is missing")
        }
    }

    /// Blocks changes of the rings and re-encryption while `body` runs. May wait.
    package func whileStanding<Result>(_ body: () throws(StorageError) -> Result) throws(StorageError) -> Result {
        guard let layer = first else { return try body() }
        guard case .ring(let ring, _) = layer.keys else { return try dropFirst().whileStanding(body) }
        return try ring.whileStanding { () throws(StorageError) in try dropFirst().whileStanding(body) }
    }
}
