internal import FoundationEssentials
internal import HostGround
internal import HostPlugins
package import HostSealing
package import HostStores
package import LocalDataAPI

/// Re-encrypts values under a ring's active key: small ones of a namespace in chunks, others one by one. Each is
/// readable at every instant: it is replaced as a whole, and both keys open. Every call may wait.
package struct Resealing: Sendable {
    let scan: SealedScan
    /// How values of a store's ring are sealed; `nil` for the master ring, whose values keep their style.
    let style: EnvelopeStyle?

    package init(scan: SealedScan, style: EnvelopeStyle?) {
        self.scan = scan
        self.style = style
    }

    /// Whether a value needs to be re-encrypted.
    package func isStale(_ header: EnvelopeHeader, active: KeyID?) -> Bool {
        header.keyID != active || style.map { $0.cipher != header.cipher } == true
    }

    /// Re-encrypts one value, unless someone removed or re-encrypted it meanwhile.
    ///
    /// - Returns: Whether it was re-encrypted.
    package func reseal(_ finding: SealedScan.Finding) throws(StorageError) -> Bool {
        try whileNobodySeals(with: finding.ring) { (active) throws(StorageError) in
            // Nobody seals under this ring now, so the value that is read here is the one that is replaced.
            // On this machine, that is; on another one a writer may be faster, and then its value stays.
            let reader = try reader(of: finding)
            let before = reader.isSharedByMachines ? try keptAttributes(of: reader)?.modified : nil
            guard let (header, size) = try reader.verified(), isStale(header, active: active.id) else {
                return false
            }
            if reader.isSharedByMachines, reader.store.abilities.conditional != nil, size <= Self.mostAtOnce {
                return try resealIfUnchanged(reader, finding, active)
            }
            let writer = try writer(of: finding, header, under: active)
            try reader.copy(
                to: writer, attributes: keptAttributes(of: writer) ?? header.attributes, sealing: header.attributes,
                size: size,
                ifHolds: { () throws(StorageError) in
                    guard reader.isSharedByMachines, try keptAttributes(of: reader)?.modified != before else { return }
                    throw StorageError(
                        .busy, "'\(finding.address)' was changed by another machine while it was re-encrypted",
                        hint: "run again: ld-host reseal")
                })
            return true
        }
    }

    /// Re-encrypts a value of a store that machines share, in one change that depends on the value's revision.
    private func resealIfUnchanged(
        _ reader: SealedValue, _ finding: SealedScan.Finding, _ active: KeyRingState.Entry
    ) throws(StorageError) -> Bool {
        guard let stored = try reader.store.revisioned(reader.handle) else { return false }
        var (data, header) = try reader.opened(stored.data)
        defer { data.resetBytes(in: 0..<data.count) }
        guard let header, isStale(header, active: active.id) else { return false }
        let writer = try writer(of: finding, header, under: active)
        return try writer.layers.whileSealing(in: writer.place) { (keys) throws(StorageError) in
            let sealed = try writer.sealed(data, under: keys, attributes: header.attributes)
            return try writer.store.set(
                writer.handle, to: sealed, attributes: stored.attributes, if: .revision(stored.revision)) != nil
        }
    }

    /// The largest value in bytes that is re-encrypted in memory. Of a larger one in a store that machines share, the
    /// time is compared right before its copy is put in place.
    private static let mostAtOnce = 32 << 20

    package func reader(of finding: SealedScan.Finding) throws(StorageError) -> SealedValue {
        let envelope = finding.ring.envelope(of: finding.address, try scan.snapshot.crypto.openIfNeeded())
        let layer = SealingLayer(
            keys: .ring(finding.ring, named: { (_) throws(StorageError) in finding.ring }), envelope: envelope,
            style: EnvelopeStyle(finding.header.cipher), limit: scan.derivationLimit(at: finding.address))
        return try value(of: finding, layer)
    }

    func writer(
        of finding: SealedScan.Finding, _ header: EnvelopeHeader, under active: KeyRingState.Entry
    ) throws(StorageError) -> SealedValue {
        let envelope = finding.ring.envelope(of: finding.address, try scan.snapshot.crypto.openIfNeeded())
        let key = EnvelopeKey(active.material, id: active.id, ring: scan.ring.headerName)
        return try value(
            of: finding,
            SealingLayer(keys: .supplied(key), envelope: envelope, style: style ?? EnvelopeStyle(header)))
    }

    /// The attributes that the store keeps beside a value, if any.
    func keptAttributes(of value: SealedValue) throws(StorageError) -> ValueAttributes? {
        value.store.abilities.attributes == nil ? nil : try value.store.attributes(of: value.handle)
    }

    private func value(of finding: SealedScan.Finding, _ layer: SealingLayer) throws(StorageError) -> SealedValue {
        let (open, address) = (finding.open, finding.address)
        return try SealedValue(at: address, in: open, layers: [layer] + scan.outerLayers(address, in: open))
    }

    /// Runs `body` with the active key while nobody seals under this ring, nor under another one whose values are
    /// resealed.
    func whileNobodySeals<Result>(
        with other: KeyRing, _ body: (KeyRingState.Entry) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        try alone(with: other) { (state) throws(StorageError) in
            guard let active = state.active else {
                throw StorageError(
                    .securityApplicationFailed, "\(scan.ring.name) has no active key", hint: "run: ld-host keys rotate")
            }
            // A value that an interrupted batch will replace must not change.
            try BatchIntent.requireNone(scan.snapshot)
            return try body(active)
        }
    }

    /// Blocks sealing under this ring, and under another one whose value is resealed, while `body` runs with the ring's
    /// keys. All processes lock two rings in the same order.
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

/// Re-encrypts many small values in one step.
extension Resealing {
    /// Re-encrypts the first of some values: all that can be re-encrypted in this way, or none.
    ///
    /// - Returns: As ``MovingStep/move(_:reading:_:)``: `true` for each that was re-encrypted.
    package func resealStep(_ findings: ArraySlice<SealedScan.Finding>) throws(StorageError) -> [Bool?] {
        guard let first = findings.first else { return [] }
        let most = MoveLimits.values(first.open, first.open, isSealed: true)
        let step = findings.prefix(most).prefix { goesAlong($0, with: first) }
        guard step.count > 1 else { return [nil] }
        return try whileNobodySeals(with: first.ring) { (active) throws(StorageError) in
            try MovingStep(to: AtomicScope(first.address.place, in: first.open)).move(step) {
                (finding, view) throws(StorageError) in
                try item(finding, view, active)
            } _: { _, _ in
                true
            }
        }
    }

    private func goesAlong(_ finding: SealedScan.Finding, with first: SealedScan.Finding) -> Bool {
        finding.open === first.open && finding.address.place == first.address.place && finding.ring === first.ring
            && finding.open.store.abilities.transactions != nil && !finding.header.derivation.isSlow
    }

    private func item(
        _ finding: SealedScan.Finding, _ view: StoreView, _ active: KeyRingState.Entry
    ) throws(StorageError) -> MovingStep.Item? {
        let reader = try reader(of: finding)
        guard let kept = try keptAttributes(of: reader), kept.size ?? .max <= MoveLimits.whole,
            let stored = try view.read(reader), try keptAttributes(of: reader) == kept
        else { return nil }
        let (data, header) = try reader.opened(stored)
        guard let header, isStale(header, active: active.id) else { return nil }
        return MovingStep.Item(
            to: try writer(of: finding, header, under: active), data, kept: kept, sealed: header.attributes)
    }
}

/// The journal's entry of a ring that is being resealed: only one process reseals at a time, and the next one learns of
/// an interruption. The values themselves show what is done.
package enum ResealIntent {
    package static let kind = "reseal"

    /// Takes over the entry of an interrupted run, or writes a new one.
    ///
    /// - Parameter isNeeded: Whether there is work; if not, there is an entry only after an interruption.
    /// - Throws: `busy` if another process is resealing.
    package static func take(
        _ scan: SealedScan, to key: KeyID, isNeeded: Bool
    ) throws(StorageError) -> Intent? {
        let journal = try IntentJournal(folder: scan.snapshot.settings.folders.journal)
        for pending in try journal.pending(kind: kind) where pending.payload == payload(of: scan) {
            guard pending.state == .interrupted else {
                throw StorageError(
                    .busy, "process \(pending.owner) is running: \(pending.subject)", hint: "wait until it is done")
            }
            return try journal.adopt(pending.id)
        }
        guard isNeeded else { return nil }
        return try journal.begin(
            kind: kind, subject: "re-encrypting under the key \(key) of \(scan.ring.name)", payload: payload(of: scan))
    }

    private static func payload(of scan: SealedScan) -> Data { Data(scan.ring.file.utf8) }
}
