internal import ByteCoding
package import FoundationEssentials
internal import HostGround
package import LocalDataAPI
internal import Synchronization

/// Seals what a group's records contain, and names them.
///
/// A sealed record is
///
///     version 1, 1 byte | epoch's number, 4 bytes, big-endian | epoch's id, its first 8 bytes | mark, 8 bytes
///     | box of the content and of its ``RecordProof``, under the epoch's record key
///
/// The mark is a keyed hash of the version, the 8 bytes of the epoch's id and the box's cipher number, which everybody
/// who was a member can compute. It tells a record of an epoch that is not known yet, of a later version, or with a
/// cipher that the provider lacks, from one of another group, so later versions keep the first 22 bytes as they are.
///
/// The record key is derived from the epoch's key; see ``GroupCrypto`` for boxes. The box authenticates the 21 bytes
/// before it, the group's id (32 bytes), the epoch's id (16), the writer's id (16) and the record's name (UTF-8), one
/// after the other. So a record opens under no other name, writer or epoch. The proof shows that it is the writer's:
/// an invitation's code opens the epoch's key, and is no device's.
package final class RecordSealer: Sendable {
    private static let version: UInt8 = 1
    private static let markSize = 8
    private static let headSize = 1 + 4 + 8 + markSize
    /// The bytes that a sealed record has more than its content if it is published alone.
    package static let overhead = headSize + GroupCrypto.boxOverhead + RecordProof.least

    private let crypto: GroupCrypto
    private let keys: GroupKeys
    private let recordKeys: [EpochID: SecretBytes]
    private let epoch: GroupState.Epoch
    /// That of the current epoch.
    private let mark: Data
    private let known = Mutex(KnownProofs())

    /// Seals for an epoch, and opens what was sealed in every epoch whose key is known.
    ///
    /// - Parameter epoch: The group's current one.
    package init(_ keys: GroupKeys, epoch: GroupState.Epoch, _ crypto: GroupCrypto) throws(StorageError) {
        self.crypto = crypto
        self.keys = keys
        self.epoch = epoch
        var recordKeys: [EpochID: SecretBytes] = [:]
        for id in keys.knownEpochs { recordKeys[id] = try keys.recordKey(of: id, crypto) }
        self.recordKeys = recordKeys
        mark = try Self.mark(of: epoch.id.bytes.prefix(8), Self.version, crypto.cipherNumber, keys, crypto)
    }

    /// Seals the contents of records that are published together, in the current epoch.
    ///
    /// - Throws: `storeUnavailable` if the current epoch's key has not arrived yet.
    package func seal(
        _ contents: [(name: String, content: Data)], by writer: DeviceKeys
    ) throws(StorageError) -> [Data] {
        guard let key = recordKeys[epoch.id] else { throw Self.missingKey(epoch.number) }
        let binding = RecordProof.Binding(group: keys.group, epoch: epoch.id, writer: writer.id)
        var sealed: [Data] = []
        var rest = contents[...]
        while !rest.isEmpty {
            let next = rest.prefix(RecordProof.most)
            rest = rest.dropFirst(RecordProof.most)
            var leaves: [SyncHash] = []
            for (name, content) in next {
                leaves.append(try RecordProof.leaf(content, named: name, binding, crypto))
            }
            let proofs = try RecordProof.encoded(of: leaves, binding, signedWith: writer.signing, crypto)
            for ((name, content), proof) in zip(next, proofs) {
                sealed.append(try seal(joined(content, proof), under: key, by: writer.id, name: name))
            }
        }
        return sealed
    }

    private func seal(
        _ content: Data, under key: SecretBytes, by writer: DeviceID, name: String
    ) throws(StorageError) -> Data {
        let head = Data(
            [Self.version] + withUnsafeBytes(of: epoch.number.bigEndian) { Array($0) } + epoch.id.bytes.prefix(8) + mark
        )
        let box = try content.withBuffer { (content) throws(StorageError) in
            try crypto.seal(
                content, .recordBox, with: key,
                authenticating: Data(head.withBuffer { binding($0, epoch.id, writer, name) }))
        }
        return head + box
    }

    /// Opens a record.
    ///
    /// - Parameter key: The writer's Ed25519 public key.
    /// - Returns: The content and the id of the epoch in which it was sealed.
    /// - Throws: `storeUnavailable` if the epoch's key is not known, or not yet; `cannotOpen` if it is no record of
    ///   this group, writer and name, or not signed by the writer; `unsupported` if it is of a later version.
    package func open(
        _ record: Data, by writer: DeviceID, signingWith key: Data, name: String
    ) throws(StorageError) -> (content: Data, epoch: EpochID) {
        let (opened, epoch) = try record.withBuffer { (record) throws(StorageError) in
            try open(record, by: writer, name: name)
        }
        guard let (content, proof) = RecordProof.split(opened) else {
            throw StorageError(.cannotOpen, "a record is not signed")
        }
        let binding = RecordProof.Binding(group: keys.group, epoch: epoch, writer: writer)
        let leaf = try RecordProof.leaf(content, named: name, binding, crypto)
        try known.withLock { (known) throws(StorageError) in
            try proof.verify(leaf, binding, signedWith: key, crypto, known: &known)
        }
        return (content, epoch)
    }

    private func open(
        _ record: UnsafeRawBufferPointer, by writer: DeviceID, name: String
    ) throws(StorageError) -> (content: Data, epoch: EpochID) {
        guard record.count >= Self.overhead else {
            throw StorageError(.cannotOpen, "a record of \(record.count) bytes is too short to be sealed")
        }
        guard record[0] == Self.version else {
            try requireMark(of: record)
            throw StorageError(
                .unsupported, "a record has the version \(record[0]); expected \(Self.version)",
                hint: "update LocalData on this device")
        }
        let number = UInt32(bigEndian: record.loadUnaligned(fromByteOffset: 1, as: UInt32.self))
        let start = UInt64(bigEndian: record.loadUnaligned(fromByteOffset: 5, as: UInt64.self))
        guard let (id, key) = recordKeys.first(where: { $0.key.high == start }) else {
            try requireMark(of: record)
            throw Self.missingKey(number)
        }
        let head = UnsafeRawBufferPointer(rebasing: record[..<Self.headSize])
        let box = UnsafeRawBufferPointer(rebasing: record[Self.headSize...])
        do throws(StorageError) {
            let content = try crypto.open(
                box, .recordBox, with: key, authenticating: binding(head, id, writer, name))
            return (content, id)
        } catch {
            if error.code == .unsupported { try requireMark(of: record) }
            throw error
        }
    }

    /// - Throws: `cannotOpen` if no member of the group has made the record's head.
    private func requireMark(of record: UnsafeRawBufferPointer) throws(StorageError) {
        let mark = try Self.mark(of: record[5..<13], record[0], record[Self.headSize], keys, crypto)
        guard record[13..<Self.headSize].elementsEqual(mark) else {
            throw StorageError(.cannotOpen, "a record is of another group, or was changed")
        }
    }

    private static func mark(
        of epoch: some Sequence<UInt8>, _ version: UInt8, _ cipher: UInt8, _ keys: GroupKeys, _ crypto: GroupCrypto
    ) throws(StorageError) -> Data {
        try crypto.value(markSize, from: keys.nameKey, .epochMark, [version] + Array(epoch) + [cipher])
    }

    private func binding(
        _ head: UnsafeRawBufferPointer, _ epoch: EpochID, _ writer: DeviceID, _ name: String
    ) -> [UInt8] {
        var bytes = ByteWriter(.bigEndian, capacity: head.count + 64 + name.utf8.count)
        bytes.add(head)
        bytes.add(keys.group.bytes)
        bytes.add(epoch)
        bytes.add(writer)
        bytes.add(name.utf8)
        return bytes.bytes
    }

    private static func missingKey(_ epoch: UInt32) -> StorageError {
        StorageError(
            .storeUnavailable, "this device does not have the key of epoch \(epoch) of the sync group",
            hint: "it comes with the group's log; if this device was removed, it never comes")
    }
}

// MARK: - Names and hashes

extension RecordSealer {
    /// The name of an address's record: 32 lower-case hexadecimal digits of a keyed hash. It tells nobody outside the
    /// group which address that is, not even one who guesses it.
    package func name(of address: String) throws(StorageError) -> String {
        try Self.name(of: address, keys, crypto)
    }

    /// The same without a group's log.
    package static func name(
        of address: String, _ keys: GroupKeys, _ crypto: GroupCrypto
    ) throws(StorageError) -> String { try hash(.name, of: address.utf8, from: keys.nameKey, crypto).text }

    /// A keyed hash of a value, by which changes are noticed.
    package func hash(of value: Data) throws(StorageError) -> SyncHash {
        try Self.hash(.valueHash, of: value, from: keys.hashKey, crypto)
    }

    private static func hash(
        _ label: GroupLabel, of bytes: some Collection<UInt8>, from key: SecretBytes, _ crypto: GroupCrypto
    ) throws(StorageError) -> SyncHash {
        let outcome: Result<SyncHash, StorageError> = withUnsafeTemporaryAllocation(
            byteCount: SyncHash.size, alignment: 8
        ) { hash in
            do throws(StorageError) { try crypto.derive(from: key, label, bytes, into: hash) } catch {
                return .failure(error)
            }
            let (high, low) = hash.load(as: (UInt64, UInt64).self)
            return .success(SyncHash(high: UInt64(bigEndian: high), low: UInt64(bigEndian: low)))
        }
        return try outcome.get()
    }
}
