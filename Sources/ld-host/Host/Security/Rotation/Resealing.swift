internal import FoundationEssentials
internal import LocalDataAPI

/// Seals values anew under a ring's active key, one after the other. Each is readable at every instant: it is replaced
/// whole, and both keys open. Everything may wait.
struct Resealing: Sendable {
    let scan: SealedScan
    /// How values of a store's ring are sealed; those of the master ring keep their style.
    let style: EnvelopeStyle?

    /// Seals one value anew, unless it went away or was sealed under the active key meanwhile.
    ///
    /// - Returns: Whether it was sealed anew.
    func reseal(_ finding: SealedScan.Finding) throws(StorageError) -> Bool {
        let (open, address) = (finding.open, finding.address)
        return try scan.ring.whileAlone { (state) throws(StorageError) in
            guard let active = state.active else {
                throw StorageError(
                    .securityApplicationFailed, "\(scan.ring.name) has no active key", hint: "run: ld-host keys rotate")
            }
            let outer = scan.outerLayers(address, in: open)
            let envelope = Envelope(address, crypto: try scan.snapshot.crypto.openIfNeeded())
            // Nobody seals under this ring now, so what is read here is what is replaced.
            let reader = try scan.value(
                at: address, in: open,
                layers: [
                    SealingLayer(
                        keys: .ring(scan.ring, named: { [ring = scan.ring] (_) throws(StorageError) in ring }),
                        envelope: envelope, style: EnvelopeStyle(finding.header.cipher))
                ] + outer)
            guard let (header, size) = try reader.value.verified(), header.keyID != active.id else { return false }
            let key = EnvelopeKey(active.material, id: active.id, ring: scan.ring.headerName)
            let writer = try scan.value(
                at: address, in: open,
                layers: [
                    SealingLayer(keys: .supplied(key), envelope: envelope, style: style ?? EnvelopeStyle(header))
                ] + outer)
            let kept = open.store.abilities.attributes == nil ? nil : try open.store.attributes(of: writer.value.handle)
            try copy(size, of: reader, to: writer.value, inner: header.attributes, outer: kept)
            return true
        }
    }

    private func copy(
        _ size: Int, of reader: ScannedValue, to writer: SealedValue, inner: ValueAttributes, outer: ValueAttributes?
    ) throws(StorageError) {
        let pipe = try PiecePipe()
        IOExecutor.shared.submit {
            do throws(StorageError) {
                // Verified before: whatever fails here fails the writer, and the old value stands. A writer that fails
                // first does not wait for this, which therefore keeps the handle.
                let found = try reader.value.read(.chunks) { pipe.write($0) }
                pipe.finish(found ? nil : StorageError(.notFound, "the value was removed"))
            } catch {
                pipe.finish(error)
            }
        }
        defer { pipe.close() }
        var copied = 0
        do {
            try writer.write(attributes: outer ?? inner, sealing: inner) { buffer in
                let count = try pipe.read(into: buffer)
                copied += count
                // Before the end is sealed: what is not all of the value must not take its place.
                guard count > 0 || copied == size else {
                    throw StorageError(.corrupt, "only \(copied) of \(size) bytes of the value were read again")
                }
                return count
            }
        } catch {
            throw (error as? StorageError) ?? StorageError(.unknown, "\(error)")
        }
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
