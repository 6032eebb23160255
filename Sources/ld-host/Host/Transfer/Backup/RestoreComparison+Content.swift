internal import FoundationEssentials
internal import HostPlugins
internal import HostSealing
internal import HostStores
internal import LocalDataAPI

// The values of the backup, compared with the stored ones.
extension RestoreComparison {
    /// The current value of the backup, to be compared: opened, if a key of the backup opens it.
    private func contentToCompare(
        _ reader: BackupReader, at address: StorageAddress
    ) throws(StorageError) -> RestoredContent {
        try RestoredContent(reader) { (header) throws(StorageError) in
            // Only values that are sealed again are worth a slow derivation.
            if header.derivation.isSlow, try isHere(header) { return nil }
            return try opener(header, at: address)
        }
    }

    /// The current value of the backup, to be stored: opened, if it is to be sealed again.
    ///
    /// - Parameter index: Its number in the file.
    func contentToStore(
        _ reader: BackupReader, at address: StorageAddress, _ index: Int
    ) throws(StorageError) -> RestoredContent {
        try RestoredContent(reader) { (header) throws(StorageError) in
            guard !terms.takesKeys, !refused.contains(index), try !isHere(header) else { return nil }
            return try opener(header, at: address)
        }
    }

    /// Whether a ring of this host has the key of a header. May wait.
    func isHere(_ header: EnvelopeHeader) throws(StorageError) -> Bool {
        try keys.isHere(header.keyID, of: header.ring)
    }

    private func opener(_ header: EnvelopeHeader, at address: StorageAddress) throws(StorageError) -> EnvelopeOpener? {
        guard let key = keys.key(of: header) else { return nil }
        try requireKeychain()
        let limit = try derivationLimit(at: address)
        return EnvelopeOpener(Envelope(address, crypto: crypto)) { (header) throws(StorageError) in
            try limit.check(header.derivation, at: address)
            return key
        }
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

    /// Compares the current value of the backup with a stored one: the bytes, and what they open to if a key of the
    /// backup opens them.
    ///
    /// - Returns: Whether one of both is equal, `nil` if none is stored; and the value, which has been read.
    func compare(
        _ item: BackupItem, at address: StorageAddress, in open: OpenStore, _ reader: BackupReader
    ) throws(StorageError) -> (isEqual: Bool?, RestoredContent) {
        let content = try contentToCompare(reader, at: address)
        guard content.isOpened, let header = content.header else {
            return (try isEqual(open.value(at: address), content), content)
        }
        let isEqual = try isEqual(target(at: address, in: open, header), content)
        let isSound = try content.finish()
        if isSound, isEqual != false { return (isEqual, content) }
        // Its bytes are restored as they are, as those of a value whose key is unknown.
        if !isSound { refused.insert(decisions.count) }
        // What is here under a key that is lost here must be different, unless the key comes along.
        if isSound, !terms.takesKeys, try !isHere(header) { return (false, content) }
        let isSame = try unlessUnreadable { () throws(StorageError) in
            try open.value(at: address).digest().map { $0 == content.hash }
        }
        return (isSame, content)
    }

    /// A stored value that cannot be read counts as different.
    private func unlessUnreadable(_ compare: () throws(StorageError) -> Bool?) throws(StorageError) -> Bool? {
        do throws(StorageError) { return try compare() } catch {
            guard [.cannotOpen, .corrupt].contains(error.code) else { throw error }
            return false
        }
    }

    /// Compares a value of the backup with a stored one; `nil` if none is stored.
    private func isEqual(_ target: SealedValue, _ content: RestoredContent) throws(StorageError) -> Bool? {
        guard try target.store.exists(target.handle) else { return nil }
        var failure: StorageError?
        let isEqual = try unlessUnreadable { () throws(StorageError) in
            try target.isEqual { (buffer) throws(StorageError) in
                do throws(StorageError) { return try content.read(into: buffer) } catch {
                    failure = error
                    throw error
                }
            }
        }
        if let failure { throw failure }
        return isEqual
    }
}
