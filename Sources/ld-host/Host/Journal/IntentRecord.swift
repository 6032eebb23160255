internal import FoundationEssentials
internal import LocalDataAPI

/// What an intent's file holds. Numbers are big-endian:
///
/// | offset | bytes | |
/// |---|---|---|
/// | 0 | 4 | `89 4C 44 4A` |
/// | 4 | 1 | version: 1 |
/// | 5 | 1 | k, the bytes of the kind |
/// | 6 | 2 | s, the bytes of the subject |
/// | 8 | 4 | number of the process that wrote the file |
/// | 12 | 4 | p, the bytes of the payload |
/// | 16 | 8 | when the intent was begun, in nanoseconds since 1970 UTC |
/// | 24 | 8 | the random part of its id |
/// | 32 | k + s + p | kind and subject in UTF-8, payload |
/// | 32 + k + s + p | 8 | FNV-1a (64 bits) of all before |
///
/// The sum tells torn and damaged files; it is no protection against anyone who may write to the folder.
struct IntentRecord: Equatable {
    /// What every file starts with.
    static let magic: [UInt8] = [0x89, 0x4C, 0x44, 0x4A]
    /// The version that is written, and the only one that is read.
    static let version: UInt8 = 1
    /// Bytes before the kind.
    static let headSize = 32
    /// Bytes of the sum.
    static let sumSize = 8
    /// The most bytes of a kind.
    static let largestKind = 255
    /// The most bytes of a subject.
    static let largestSubject = 65_535
    /// The most bytes of a payload.
    static let largestPayload = 64 << 20
    /// The most bytes of a file.
    static let largestSize = headSize + largestKind + largestSubject + largestPayload + sumSize

    let id: IntentID
    let kind: String
    let subject: String
    var owner: Int32
    var payload: Data

    /// The file's bytes.
    ///
    /// - Throws: `valueTooLarge` if a part does not fit.
    func encoded() throws(StorageError) -> Data {
        try Self.check(kind.utf8.count, Self.largestKind, "kind of an intent")
        try Self.check(subject.utf8.count, Self.largestSubject, "subject of an intent of kind '\(kind)'")
        try Self.check(payload.count, Self.largestPayload, "payload of an intent of kind '\(kind)'")
        var bytes = Data(Self.magic)
        bytes.reserveCapacity(
            Self.headSize + kind.utf8.count + subject.utf8.count + payload.count + Self.sumSize)
        bytes.append(Self.version)
        Self.append(UInt8(kind.utf8.count), to: &bytes)
        Self.append(UInt16(subject.utf8.count), to: &bytes)
        Self.append(UInt32(bitPattern: owner), to: &bytes)
        Self.append(UInt32(payload.count), to: &bytes)
        Self.append(UInt64(bitPattern: id.created), to: &bytes)
        Self.append(id.random, to: &bytes)
        bytes.append(contentsOf: kind.utf8)
        bytes.append(contentsOf: subject.utf8)
        bytes.append(payload)
        Self.append(Self.sum(bytes), to: &bytes)
        return bytes
    }

    /// FNV-1a, 64 bits.
    static func sum(_ bytes: Data) -> UInt64 {
        let span = bytes.span
        var sum: UInt64 = 0xCBF2_9CE4_8422_2325
        for index in span.indices { sum = (sum ^ UInt64(span[index])) &* 0x100_0000_01B3 }
        return sum
    }

    private static func check(_ count: Int, _ limit: Int, _ part: String) throws(StorageError) {
        guard count > limit else { return }
        throw StorageError(.valueTooLarge, "the \(part) has \(count) bytes, expected at most \(limit)")
    }

    private static func append(_ number: some FixedWidthInteger & UnsignedInteger, to bytes: inout Data) {
        for shift in stride(from: number.bitWidth - 8, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }
}
