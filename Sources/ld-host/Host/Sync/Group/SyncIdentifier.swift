package import FoundationEssentials
internal import LocalDataAPI

/// An id of 16 bytes, ordered by them.
package protocol SyncIdentifier: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The first eight bytes, as a big-endian number.
    var high: UInt64 { get }
    /// The last eight bytes.
    var low: UInt64 { get }

    init(high: UInt64, low: UInt64)
}

extension SyncIdentifier {
    /// The size in bytes.
    package static var size: Int { 16 }

    /// The first 16 bytes; `nil` if there are fewer.
    package init?(bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes.prefix(Self.size))
        guard bytes.count == Self.size else { return nil }
        func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        self.init(high: number(bytes[..<8]), low: number(bytes[8...]))
    }

    /// The id that exactly 32 lower-case hexadecimal digits encode; `nil` for other text.
    package init?(text: String) {
        let digits = Array(text.utf8)
        let valid = digits.allSatisfy {
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
        }
        guard digits.count == 2 * Self.size, valid,
            let high = UInt64(String(decoding: digits[..<16], as: UTF8.self), radix: 16),
            let low = UInt64(String(decoding: digits[16...], as: UTF8.self), radix: 16)
        else { return nil }
        self.init(high: high, low: low)
    }

    /// The 16 bytes.
    package var bytes: [UInt8] { withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { Array($0) } }

    /// 32 lower-case hexadecimal digits.
    package var text: String {
        [high, low].map { word in
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }

    package var description: String { text }

    package static func < (left: Self, right: Self) -> Bool { (left.high, left.low) < (right.high, right.low) }
}

/// A device of a sync group: the first 16 bytes of the hash of its Ed25519 public key. Only the holder of the private
/// key can sign as this device.
package struct DeviceID: SyncIdentifier {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The id of the device with this Ed25519 public key.
    init(ofSigningKey publicKey: Data, _ crypto: GroupCrypto) throws(StorageError) {
        let hash = try crypto.hash(publicKey, .deviceID)
        guard let id = Self(bytes: hash) else { throw StorageError(.unknown, "a hash is too short") }
        self = id
    }
}

/// An epoch of a group, a time in which one key seals all records: the first 16 bytes of the id of the entry that
/// started it.
package struct EpochID: SyncIdentifier {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}

/// An invitation, derived from its secret. It is public.
package struct InvitationID: SyncIdentifier {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}

/// An entry of a group's log: the hash of its signed bytes, 32 bytes, ordered by them. That of the genesis is the
/// group's id.
package struct EntryID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The size in bytes.
    static let size = 32

    /// The 32 bytes.
    package let bytes: Data

    /// `nil` unless there are 32 bytes.
    package init?(_ bytes: some Sequence<UInt8>) {
        self.bytes = Data(bytes)
        guard self.bytes.count == Self.size else { return nil }
    }

    /// The epoch that the entry starts, if it starts one.
    package var epoch: EpochID { EpochID(bytes: bytes) ?? EpochID(high: 0, low: 0) }

    /// 16 hexadecimal digits, for people.
    package var description: String { String(epoch.text.prefix(16)) }

    package static func < (left: Self, right: Self) -> Bool { left.bytes.lexicographicallyPrecedes(right.bytes) }
}
