internal import FoundationEssentials
internal import Glibc
internal import HostGround
internal import HostPlugins
internal import HostSealing
internal import HostStores
package import LocalDataAPI

/// The second pass of a restore: stages the values that differ, and puts them in place, all or none. Every call may
/// wait.
package struct RestoreRun {
    private let found: RestoreComparison
    private let snapshot: RouterSnapshot
    private let restored = RestoredPlaces()

    /// - Parameter found: The result of the first pass, without conflicts.
    package init(_ found: RestoreComparison) {
        self.found = found
        snapshot = found.snapshot
    }

    /// Stages the values that the stores do not have, and puts them in place, all or none.
    ///
    /// - Returns: What was found, and how much was restored.
    package func restore() throws(StorageError) -> RestoreReport {
        var report = found.report
        report.restored = found.decisions.count { $0 != .skip }
        // Without the values, they do no harm.
        try joinRings()
        guard report.restored > 0 else { return report }
        try rememberFolders()
        let keychain = snapshot.settings.routes["keychain"]?.store.name
        let master = found.resealed.isEmpty ? nil : try snapshot.rings.ring(named: snapshot.rings.current)
        let seals = BatchSeals(found.sealed, master: master.map { ($0, found.resealed) }, keychain: keychain)
        try whileNoRingIsMade { () throws(StorageError) in
            try seals.whileSealing { (keys) throws(StorageError) in
                let total = found.changes.values.reduce(0, +)
                try StagedBatch.run(snapshot, most: found.changes) { (batch) throws(StorageError) in
                    try stage(in: batch, under: keys)
                } progress: {
                    try? found.progress(StepProgress(step: "restoring", done: $0, total: total))
                }
            }
        }
        // Keys that have been moved since the backup was made find their values where these were then.
        snapshot.places.add(restored.events, isUse: false, snapshot.settings.folders)
        // A ring that was missing is there now.
        snapshot.rings.forgetKeys()
        return report
    }

    /// Adds the backup's keys to rings that are there already, before the values arrive that they open. Only if the
    /// user takes them, there are any.
    private func joinRings() throws(StorageError) {
        for (service, account, keys) in found.missingKeys {
            try snapshot.rings.ring(named: MasterRings.name(service, account)).change { $0.join(keys) }
        }
    }

    /// Records namespaces with their own folders in rings that are there already, before their values arrive.
    private func rememberFolders() throws(StorageError) {
        for (name, places) in found.folders {
            let ring: KeyRing
            do throws(StorageError) { ring = try snapshot.rings.ring(named: name) } catch {
                // A ring that the restore brings knows them itself; any other opens nothing.
                guard [.cannotOpen, .invalidAddress].contains(error.code) else { throw error }
                continue
            }
            guard try ring.state() != nil else { continue }
            try ring.change { $0.places.formUnion(places) }
        }
    }

    /// Keeps other processes from making the first key of a ring that is being restored.
    private func whileNoRingIsMade(_ body: () throws(StorageError) -> Void) throws(StorageError) {
        guard found.addsRing else { return try body() }
        try snapshot.rings.ring(named: snapshot.rings.current).whileAlone { (_) throws(StorageError) in try body() }
    }

    private func stage(in batch: StagedBatch, under keys: BatchSeals.Keys) throws(StorageError) {
        let reader = try BackupReader(found.file, found.crypto, key: found.key)
        _ = try reader.manifest()
        var index = 0
        while let item = try reader.next() {
            guard reader.salt == found.salt, index < found.decisions.count else {
                throw StorageError(
                    .busy, "the backup '\(found.file.path)' was changed while it was read; nothing was restored",
                    hint: "run it again when nobody writes to it")
            }
            if found.decisions[index] != .skip {
                try stage(item, index, reader, in: batch, under: keys)
            }
            index += 1
            let progress = StepProgress(step: "staging", done: index, total: found.decisions.count)
            try storageErrors { try found.progress(progress) }
        }
    }

    private func stage(
        _ item: BackupItem, _ index: Int, _ reader: BackupReader, in batch: StagedBatch, under keys: BatchSeals.Keys
    ) throws(StorageError) {
        if item.kind == .ring { return try stage(ring: item, reader, in: batch, under: keys) }
        guard let open = found.destinations[item.domain]?.open else { return }
        let address = try found.address(of: item)
        let content = try found.contentToStore(reader, at: address, index)
        let header = content.isOpened ? content.header : nil
        let target =
            if let header { try found.target(at: address, in: open, header) } else { try open.value(at: address) }
        let isFree = try found.decisions[index] == .replace ? true : !target.store.exists(target.handle)
        guard isFree else {
            throw StorageError(
                .busy, "another process stored a value at '\(address)' meanwhile; nothing was restored",
                hint: "run it again")
        }
        let lent = try target.keys(keys)
        let namesAddresses = RestoreComparison.namesAddresses(item)
        var (data, isWhole) = try content.gather(
            atMost: namesAddresses ? RestoreComparison.largestEntry : MoveLimits.whole)
        defer { data.resetBytes(in: 0..<data.count) }
        if namesAddresses {
            guard isWhole else { throw reader.damaged("\(item.description) is too large") }
            try found.requireNamedFolders(inEntry: data, item)
        }
        if item.kind == .value {
            restored.add(item, at: address.place, isSealed: content.header != nil, of: snapshot.settings)
        }
        let inEnvelope = header?.attributes ?? item.attributes
        if isWhole {
            try requireOpened(content, item, reader)
            let bytes = try target.sealed(data, under: lent, attributes: inEnvelope)
            return try batch.add(bytes, item.attributes, to: target, at: address, in: open)
        }
        let first = FirstBytes(data)
        data = Data()
        try batch.add(
            large: item.attributes, sealing: inEnvelope, to: target, at: address, in: open, under: lent
        ) { buffer in
            let start = first.take(into: buffer)
            let count = try start > 0 ? start : content.read(into: buffer)
            if count == 0 { try requireOpened(content, item, reader) }
            return count
        }
    }

    /// The first pass has opened it.
    private func requireOpened(
        _ content: RestoredContent, _ item: BackupItem, _ reader: BackupReader
    ) throws(StorageError) {
        if content.isRefused { throw reader.damaged("\(item.description) was changed while it was read") }
    }

    /// Stages a ring, and its entry in the list.
    private func stage(
        ring item: BackupItem, _ reader: BackupReader, in batch: StagedBatch, under keys: BatchSeals.Keys
    ) throws(StorageError) {
        guard let list = found.ringsOfKeychain else { return }
        var state = try found.state(item, reader)
        state.places = found.folders[MasterRings.name(item.scope, item.name)] ?? []
        var data = try state.encoded().withBytes { Data($0) }
        defer { data.resetBytes(in: 0..<data.count) }
        func add(_ data: Data, at address: StorageAddress) throws(StorageError) {
            let target = try list.open.value(at: address)
            guard try !target.store.exists(target.handle) else { return }
            let bytes = try target.sealed(data, under: target.keys(keys), attributes: nil)
            try batch.add(bytes, nil, to: target, at: address, in: list.open)
        }
        try add(Data(RingList.Kind.ring.rawValue.utf8), at: list.address(item.scope, item.name))
        try add(data, at: found.address(of: item))
    }
}

/// The first bytes of a large value, cleared at the end.
private final class FirstBytes {
    private var data: Data
    private var taken = 0

    init(_ data: Data) { self.data = data }

    deinit { data.resetBytes(in: 0..<data.count) }

    /// Fills a buffer; 0 at the end.
    func take(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(buffer.count, data.count - taken)
        data.withUnsafeBytes { bytes in
            MemorySecrecy.copy(UnsafeRawBufferPointer(rebasing: bytes[taken..<taken + count]), to: buffer)
        }
        taken += count
        return count
    }
}

extension SealedValue {
    /// The keys that seal it.
    fileprivate func keys(_ keys: BatchSeals.Keys) throws(StorageError) -> [EnvelopeKey] {
        var lent: [EnvelopeKey] = []
        for layer in layers { lent.append(try keys.key(of: layer)) }
        return lent
    }
}
