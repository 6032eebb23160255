internal import FoundationEssentials
internal import LocalDataAPI

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
                hint: "make sure that no work is half done, then remove the file")
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
            Self.number(bytes, at: payloadEnd, as: UInt64.self) == Self.sum(bytes[..<payloadEnd]),
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
