internal import ByteCoding
internal import FoundationEssentials
internal import HostGround
internal import LocalDataAPI

/// The text of a secret of 128 random bits, for people to write down, type or paste: of an invitation, or of a group's
/// recovery code.
///
/// The 16 bytes of the secret and a checksum of 4 bytes are written in Crockford's Base32, as 8 groups of 4
/// characters: `0123-4567-89AB-...`. The checksum is the upper 32 bits of the FNV-1a hash of 64 bits of the secret,
/// highest byte first. It finds typing errors; it protects nothing. When a code is read, case, spaces and dashes do
/// not matter, O is read as 0, and I and L as 1.
enum SecretCode {
    /// The size of the secret in bytes.
    static let secretSize = 16
    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)
    private static let checksumSize = 4
    /// The number of characters without dashes.
    private static let length = (secretSize + checksumSize) * 8 / 5

    static func text(of secret: SecretBytes) -> String {
        var bytes = secret.withBytes { Array($0) }
        defer { for index in bytes.indices { bytes[index] = 0 } }
        bytes += checksum(bytes)
        var characters: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 5) {
            let word = bytes[start..<start + 5].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            characters += stride(from: 35, through: 0, by: -5).map { alphabet[Int(word >> UInt64($0) & 31)] }
        }
        return stride(from: 0, to: characters.count, by: 4).map {
            String(decoding: characters[$0..<$0 + 4], as: UTF8.self)
        }.joined(separator: "-")
    }

    /// - Throws: `invalidOptions` with what is wrong with the code, which is not repeated.
    ///
    /// - Parameter kind: What it is the code of, for people.
    static func secret(of code: String, _ kind: String) throws(StorageError) -> SecretBytes {
        var bytes = try bytes(of: digits(of: code, kind))
        defer { for index in bytes.indices { bytes[index] = 0 } }
        guard Array(bytes[secretSize...]) == checksum(Array(bytes[..<secretSize])) else {
            throw fault(kind, "has a typing error: its checksum is wrong")
        }
        return try SecretBytes(count: secretSize) { (memory) throws(StorageError) in
            memory.copyBytes(from: bytes[..<secretSize])
        }
    }

    /// The value of each character, without spaces and dashes.
    private static func digits(of code: String, _ kind: String) throws(StorageError) -> [UInt64] {
        var digits: [UInt64] = []
        for (place, character) in code.enumerated() where !character.isWhitespace && character != "-" {
            guard let digit = digit(character) else {
                throw fault(kind, "has the character '\(character)' at place \(place + 1), which codes never have")
            }
            digits.append(digit)
        }
        guard digits.count == length else {
            throw fault(kind, "has \(digits.count) letters and digits; expected \(length)")
        }
        return digits
    }

    private static func digit(_ character: Character) -> UInt64? {
        let letter: Character
        switch character {
        case "o", "O": letter = "0"
        case "i", "I", "l", "L": letter = "1"
        default: letter = character
        }
        guard let ascii = letter.asciiValue else { return nil }
        let upper = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(ascii) ? ascii - 32 : ascii
        return alphabet.firstIndex(of: upper).map(UInt64.init)
    }

    private static func bytes(of digits: [UInt64]) -> [UInt8] {
        stride(from: 0, to: digits.count, by: 8).flatMap { start in
            let word = digits[start..<start + 8].reduce(0) { $0 << 5 | $1 }
            return stride(from: 32, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> UInt64($0)) }
        }
    }

    private static func checksum(_ secret: [UInt8]) -> [UInt8] {
        let hash = StableHash.of(secret)
        return stride(from: 56, to: 24, by: -8).map { UInt8(truncatingIfNeeded: hash >> UInt64($0)) }
    }

    private static func fault(_ kind: String, _ what: String) -> StorageError {
        StorageError(
            .invalidOptions, "the \(kind) code \(what)",
            hint: kind == "invitation"
                ? "compare it with the one that the other device shows" : "compare it with what you wrote down")
    }
}
