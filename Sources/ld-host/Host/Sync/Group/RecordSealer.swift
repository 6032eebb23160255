package import FoundationEssentials
package import LocalDataAPI

/// Seals what a group's records contain, and names them.
///
/// A sealed record is
///
///     version 1, 1 byte | epoch's number, 4 bytes, big-endian | epoch's id, its first 8 bytes | mark, 8 bytes
///     | box of the content, under the epoch's record key
///
/// The mark is a keyed hash of the version, the 8 bytes of the epoch's id and the box's cipher number, which everybody
/// who was a member can compute. It tells a record of an epoch that is not known yet, of a later version, or with a
/// cipher that the provider lacks, from one of another group, so later versions keep the first 22 bytes as they are.
///
/// The record key is derived from the epoch's key; see ``GroupCrypto`` for boxes. The box authenticates the 21 bytes
/// before it, the group's id (32 bytes), the epoch's id (16), the writer's id (16) and the record's name (UTF-8), one
/// after the other. So a record opens under no other name, writer or epoch.
package struct RecordSealer: Sendable {
    private static let version: UInt8 = 1
    private static let markSize = 8
    private static let headSize = 1 + 4 + 8 + markSize
    /// The bytes that a sealed record has more than its content.
    package static let overhead = headSize + GroupCrypto.boxOverhead

    private let crypto: GroupCrypto
    private let keys: GroupKeys
    private let recordKeys: [EpochID: SecretBytes]
    private let epoch: GroupState.Epoch
    /// That of the current epoch.
    private let mark: Data

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

    /// Seals a record's content in the current epoch.
    ///
    /// - Throws: `storeUnavailable` if the current epoch's key has not arrived yet.
    package func seal(_ content: Data, by writer: DeviceID, name: String) throws(StorageError) -> Data {
        guard let key = recordKeys[epoch.id] else { throw Self.missingKey(epoch.number) }
        let head = Data(
            [Self.version] + withUnsafeBytes(of: epoch.number.bigEndian) { Array($0) } + epoch.id.bytes.prefix(8) + mark
        )
        let box = try content.withBuffer { (content) throws(StorageError) in
            try crypto.seal(content, .recordBox, with: key, authenticating: binding(head, epoch.id, writer, name))
        }
        return head + box
    }

    /// Opens a record.
    ///
    /// - Returns: The content and the id of the epoch in which it was sealed.
    /// - Throws: `storeUnavailable` if the epoch's key is not known, or not yet; `cannotOpen` if it is no record of
    ///   this group, writer and name; `unsupported` if it is of a later version.
    package func open(
        _ record: Data, by writer: DeviceID, name: String
    ) throws(StorageError) -> (content: Data, epoch: EpochID) {
        let record = Data(record)
        guard record.count >= Self.overhead else {
            throw StorageError(.cannotOpen, "a record of \(record.count) bytes is too short to be sealed")
        }
        guard record[0] == Self.version else {
            try requireMark(of: record)
            throw StorageError(
                .unsupported, "a record has the version \(record[0]); expected \(Self.version)",
                hint: "update LocalData on this device")
        }
        let head = record.prefix(Self.headSize)
        let number = head[1..<5].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        guard let (id, key) = recordKeys.first(where: { $0.key.bytes.prefix(8).elementsEqual(head[5..<13]) }) else {
            try requireMark(of: record)
            throw Self.missingKey(number)
        }
        let box = Data(record.dropFirst(Self.headSize))
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
    private func requireMark(of record: Data) throws(StorageError) {
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

    private func binding(_ head: Data, _ epoch: EpochID, _ writer: DeviceID, _ name: String) -> Data {
        var data = Data(capacity: head.count + 64 + name.utf8.count)
        data.append(head)
        data.append(contentsOf: keys.group.bytes)
        data.append(contentsOf: epoch.bytes)
        data.append(contentsOf: writer.bytes)
        data.append(contentsOf: name.utf8)
        return data
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
        let hash = try crypto.value(16, from: keys.nameKey, .name, address.utf8)
        return String(unsafeUninitializedCapacity: 2 * hash.count) { digits in
            func digit(_ number: UInt8) -> UInt8 { number + (number < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10) }
            for (index, byte) in hash.enumerated() {
                (digits[2 * index], digits[2 * index + 1]) = (digit(byte >> 4), digit(byte & 15))
            }
            return 2 * hash.count
        }
    }

    /// A keyed hash of a value, 16 bytes, by which changes are noticed.
    package func hash(of value: Data) throws(StorageError) -> Data {
        try crypto.value(16, from: keys.hashKey, .valueHash, value)
    }
}
