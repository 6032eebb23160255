internal import FoundationEssentials
internal import LocalDataAPI

// The values of the backup, compared with the stored ones.
extension RestoreComparison {
    /// The current value of the backup, as it is to be restored to an address.
    ///
    /// - Parameter index: Its number in the file.
    func content(
        of reader: BackupReader, at address: StorageAddress, _ index: Int
    ) throws(StorageError) -> RestoredContent {
        try RestoredContent(reader) { (header) throws(StorageError) in
            guard !refused.contains(index), let key = try keys.key(of: header) else { return nil }
            try requireKeychain()
            let limit = try derivationLimit(at: address)
            return EnvelopeOpener(Envelope(address, crypto: crypto)) { (header) throws(StorageError) in
                try limit.check(header.derivation, at: address)
                return key
            }
        }
    }

    /// The same for the second pass: opened only if it is to be sealed again.
    func contentToStore(
        _ reader: BackupReader, at address: StorageAddress, _ index: Int
    ) throws(StorageError) -> RestoredContent {
        guard terms.takesKeys else { return try content(of: reader, at: address, index) }
        return try RestoredContent(reader) { (_) throws(StorageError) in nil }
    }

    private func derivationLimit(at address: StorageAddress) throws(StorageError) -> DerivationLimit {
        let ring = try snapshot.rings.ring(named: snapshot.rings.current)
        return SealedScan(snapshot: snapshot, name: .master, ring: ring).derivationLimit(at: address)
    }

    /// The location of a value that is sealed again under a key of this user.
    func target(
        at address: StorageAddress, in open: OpenStore, _ header: EnvelopeHeader
    ) throws(StorageError) -> SealedValue {
        let layer = try snapshot.rings.layer(for: address, style: EnvelopeStyle(header))
        return try SealedValue(
            at: address, in: open, layers: [layer] + (open.sealing.map { [$0.layer(for: address)] } ?? []))
    }

    /// Compares the current value of the backup with a stored one: what they open to, if only a key of the backup
    /// opens the former.
    ///
    /// - Returns: Whether they are equal, `nil` if none is stored; and the value, which has been read.
    func compare(
        _ item: BackupItem, at address: StorageAddress, in open: OpenStore, _ reader: BackupReader
    ) throws(StorageError) -> (isEqual: Bool?, RestoredContent) {
        let content = try content(of: reader, at: address, decisions.count)
        guard content.isOpened, let header = content.header else {
            return (try isEqual(open.value(at: address), content), content)
        }
        let isEqual = try isEqual(target(at: address, in: open, header), content)
        let isSound = try content.finish()
        // A value whose key is lost here opens again with the backup's.
        if isSound, isEqual != false || !terms.takesKeys { return (isEqual, content) }
        let hasBytes = try open.value(at: address).digest().map { $0 == content.hash }
        if isSound { return (hasBytes, content) }
        // Its bytes are restored as they are, as those of a value whose key is unknown.
        refused.insert(decisions.count)
        return (hasBytes, content)
    }

    /// Compares a value of the backup with a stored one; `nil` if none is stored.
    private func isEqual(_ target: SealedValue, _ content: RestoredContent) throws(StorageError) -> Bool? {
        guard try target.store.exists(target.handle) else { return nil }
        var failure: StorageError?
        do throws(StorageError) {
            return try target.isEqual { (buffer) throws(StorageError) in
                do throws(StorageError) { return try content.read(into: buffer) } catch {
                    failure = error
                    throw error
                }
            }
        } catch {
            // A stored value that cannot be read counts as different.
            guard failure == nil, [.cannotOpen, .corrupt].contains(error.code) else { throw error }
            return false
        }
    }
}
