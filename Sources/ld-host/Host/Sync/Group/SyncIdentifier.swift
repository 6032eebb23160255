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
        var (high, low, count): (UInt64, UInt64, Int) = (0, 0, 0)
        for byte in bytes {
            if count < 8 { high = high << 8 | UInt64(byte) } else { low = low << 8 | UInt64(byte) }
            count += 1
            if count == Self.size { break }
        }
        guard count == Self.size else { return nil }
        self.init(high: high, low: low)
    }

    /// The id that exactly 32 lower-case hexadecimal digits encode; `nil` for other text.
    package init?(text: String) {
        let digits = text.utf8
        guard digits.count == 2 * Self.size else { return nil }
        var (high, low): (UInt64, UInt64) = (0, 0)
        for digit in digits {
            let value: UInt8
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = digit - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = digit - UInt8(ascii: "a") + 10
            default: return nil
            }
            (high, low) = (high << 4 | low >> 60, low << 4 | UInt64(value))
        }
        self.init(high: high, low: low)
    }

    /// The 16 bytes.
    package var bytes: [UInt8] { withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { Array($0) } }

    /// 32 lower-case hexadecimal digits.
    package var text: String {
        String(unsafeUninitializedCapacity: 2 * Self.size) { digits in
            for (half, word) in [high, low].enumerated() {
                for index in 0..<16 {
                    let digit = UInt8(truncatingIfNeeded: word >> UInt64(60 - 4 * index) & 15)
                    digits[16 * half + index] = digit + (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
                }
            }
            return 2 * Self.size
        }
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

/// A keyed hash of a value or record, by which members compare without seeing what it is of.
package struct SyncHash: SyncIdentifier {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
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
