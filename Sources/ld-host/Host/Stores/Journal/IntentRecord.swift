internal import ByteCoding
internal import FoundationEssentials
internal import HostGround
internal import LocalDataAPI

/// The content of an intent's file. Numbers are big-endian:
///
/// | offset | bytes | |
/// |---|---|---|
/// | 0 | 4 | `89 4C 44 4A` |
/// | 4 | 1 | version: 1 |
/// | 5 | 1 | k, the size of the kind |
/// | 6 | 2 | s, the size of the subject |
/// | 8 | 4 | id of the process that wrote the file |
/// | 12 | 4 | p, the size of the payload |
/// | 16 | 8 | when the intent was begun, in nanoseconds since 1970 UTC |
/// | 24 | 8 | the random part of its id |
/// | 32 | k + s + p | kind and subject in UTF-8, payload |
/// | 32 + k + s + p | 8 | FNV-1a (64 bits) of all preceding bytes |
///
/// The checksum detects torn and damaged files; it does not protect against users who can write to the folder.
struct IntentRecord: Equatable {
    /// The start of every file.
    static let magic: [UInt8] = [0x89, 0x4C, 0x44, 0x4A]
    /// The version for writing, and the only one that can be read.
    static let version: UInt8 = 1
    /// The number of bytes before the kind.
    static let headSize = 32
    /// The size of the checksum in bytes.
    static let sumSize = 8
    /// The largest kind in bytes.
    static let largestKind = 255
    /// The largest subject in bytes.
    static let largestSubject = 65_535
    /// The largest payload in bytes.
    static let largestPayload = 64 << 20
    /// The largest file in bytes.
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
        let size = Self.headSize + kind.utf8.count + subject.utf8.count + payload.count + Self.sumSize
        var writer = ByteWriter(.bigEndian, Self.magic, capacity: size)
        writer.add(Self.version)
        writer.add(UInt8(kind.utf8.count))
        writer.add(UInt16(subject.utf8.count))
        writer.add(UInt32(bitPattern: owner))
        writer.add(UInt32(payload.count))
        writer.add(UInt64(bitPattern: id.created))
        writer.add(id.random)
        writer.add(kind.utf8)
        writer.add(subject.utf8)
        writer.add(payload)
        writer.addHash()
        return Data(writer.bytes)
    }

    private static func check(_ count: Int, _ limit: Int, _ part: String) throws(StorageError) {
        guard count > limit else { return }
        throw StorageError(.valueTooLarge, "the \(part) has \(count) bytes, expected at most \(limit)")
    }
}

extension IntentRecord {
    /// Reads a file's bytes.
    ///
    /// - Parameters:
    ///   - expected: The id in the file's name.
    ///   - path: The file, for the error.
    /// - Throws: `unsupported` for an unknown version, `corrupt` for anything incomplete.
    init(_ bytes: Data, expected: IntentID, path: String) throws(StorageError) {
        let bytes = bytes.startIndex == 0 ? bytes : Data(bytes)
        func damaged(_ finding: String) -> StorageError {
            StorageError(
                .corrupt, "the intent in '\(path)' is damaged: \(finding)",
                hint: "see what is interrupted: ld-host doctor; then remove the file")
        }
        func require(_ isFulfilled: Bool, _ finding: String) throws(StorageError) {
            guard isFulfilled else { throw damaged(finding) }
        }
        try require(bytes.starts(with: Self.magic) && bytes.count > 4, "it does not begin as an intent")
        guard bytes[4] == Self.version else {
            throw StorageError(
                .unsupported, "the intent in '\(path)' has version \(bytes[4]); expected \(Self.version)",
                hint: "use a newer program")
        }
        try require(bytes.count >= Self.headSize + Self.sumSize, "it has only \(bytes.count) bytes")
        let kindEnd = Self.headSize + Int(bytes[5])
        let subjectEnd = kindEnd + Int(Self.number(bytes, at: 6, as: UInt16.self))
        let payloadEnd = subjectEnd + Int(Self.number(bytes, at: 12, as: UInt32.self))
        try require(
            bytes.count == payloadEnd + Self.sumSize,
            "it has \(bytes.count) bytes, expected \(payloadEnd + Self.sumSize)")
        try require(
            Self.number(bytes, at: payloadEnd, as: UInt64.self) == StableHash.of(Data(bytes[..<payloadEnd])),
            "its content does not match its checksum")
        id = IntentID(
            created: Int64(bitPattern: Self.number(bytes, at: 16, as: UInt64.self)),
            random: Self.number(bytes, at: 24, as: UInt64.self))
        try require(id == expected, "it is the intent \(id)")
        guard let kind = String(validating: bytes[Self.headSize..<kindEnd], as: UTF8.self),
            let subject = String(validating: bytes[kindEnd..<subjectEnd], as: UTF8.self)
        else { throw damaged("its kind or subject is not UTF-8") }
        self.kind = kind
        self.subject = subject
        owner = Int32(bitPattern: Self.number(bytes, at: 8, as: UInt32.self))
        payload = Data(bytes[subjectEnd..<payloadEnd])
    }

    private static func number<Number: FixedWidthInteger>(_ bytes: Data, at offset: Int, as: Number.Type) -> Number {
        bytes[offset..<offset + MemoryLayout<Number>.size].reduce(0) { $0 << 8 | Number($1) }
    }
}
