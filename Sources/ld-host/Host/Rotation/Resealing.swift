internal import LocalDataAPI

/// Seals values anew under a ring's active key, one after the other. Each is readable at every instant: it is replaced
/// whole, and both keys open. Everything may wait.
struct Resealing: Sendable {
    let scan: SealedScan
    /// How values of a store's ring are sealed; those of the master ring keep their style.
    let style: EnvelopeStyle?

    /// Whether a value is to be sealed anew.
    func isStale(_ header: EnvelopeHeader, active: KeyID?) -> Bool {
        header.keyID != active || style.map { $0.cipher != header.cipher } == true
    }

    /// Seals one value anew, unless it went away or was sealed anew meanwhile.
    ///
    /// - Returns: Whether it was sealed anew.
    func reseal(_ finding: SealedScan.Finding) throws(StorageError) -> Bool {
        let (open, address) = (finding.open, finding.address)
        return try alone(with: finding.ring) { (state) throws(StorageError) in
            guard let active = state.active else {
                throw StorageError(
                    .securityApplicationFailed, "\(scan.ring.name) has no active key", hint: "run: ld-host keys rotate")
            }
            // The value that an interrupted batch is to replace has to stay what it was.
            try BatchIntent.requireNone(scan.snapshot)
            let outer = scan.outerLayers(address, in: open)
            let envelope = Envelope(address, crypto: try scan.snapshot.crypto.openIfNeeded())
            // Nobody seals under this ring now, so what is read here is what is replaced.
            let reader = try SealedValue(
                at: address, in: open,
                layers: [
                    SealingLayer(
                        keys: .ring(finding.ring, named: { (_) throws(StorageError) in finding.ring }),
                        envelope: envelope, style: EnvelopeStyle(finding.header.cipher))
                ] + outer)
            guard let (header, size) = try reader.verified(), isStale(header, active: active.id) else {
                return false
            }
            let key = EnvelopeKey(active.material, id: active.id, ring: scan.ring.headerName)
            let writer = try SealedValue(
                at: address, in: open,
                layers: [
                    SealingLayer(keys: .supplied(key), envelope: envelope, style: style ?? EnvelopeStyle(header))
                ] + outer)
            let kept = open.store.abilities.attributes == nil ? nil : try open.store.attributes(of: writer.handle)
            try reader.copy(
                to: writer, attributes: kept ?? header.attributes, sealing: header.attributes, size: size)
            return true
        }
    }

    /// Keeps everyone from sealing under the ring, and under another one whose value is resealed, while `body` runs
    /// with the ring's keys. Of two rings all processes lock the same one first.
    private func alone<Result>(
        with other: KeyRing, _ body: (KeyRingState) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        if other.file == scan.ring.file { return try scan.ring.whileAlone(body) }
        guard other.file < scan.ring.file else {
            return try scan.ring.whileAlone { (state) throws(StorageError) in
                try other.whileAlone { (_) throws(StorageError) in try body(state) }
            }
        }
        return try other.whileAlone { (_) throws(StorageError) in try scan.ring.whileAlone(body) }
    }
}

extension EnvelopeStyle {
    /// The style that a header shows. A salt of a slow derivation is made anew.
    init(_ header: EnvelopeHeader) {
        switch header.derivation {
        case .hkdf(let salt, let info): self.init(header.cipher, .hkdf(salt: salt, info: info))
        case .pbkdf2(let iterations, _): self.init(header.cipher, .pbkdf2(iterations: iterations))
        case .argon2id(let passes, let memory, _): self.init(header.cipher, .argon2id(passes: passes, memory: memory))
        }
    }
}
