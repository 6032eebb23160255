internal import ByteCoding
internal import FoundationEssentials
package import LocalDataAPI

/// An invitation to a group: a secret of 128 random bits, which a member hands to the new device as a code.
///
/// Whoever knows the code can join in place of the new device until the invitation ends, and opens everything that the
/// group has sealed so far. The invitation's signing key and box key are derived from the secret, and so is its public
/// id, by which the new device finds the invitation's entry in the log.
package struct Invitation: Sendable {
    /// The size of the secret in bytes.
    static let secretSize = 16

    /// The public id.
    package let id: InvitationID
    /// Ed25519; signs the new device's join.
    let signing: SecretBytes
    /// Its public key, which the invitation's entry names.
    let signingPublicKey: Data
    /// Opens the box in the invitation's entry.
    let boxKey: SecretBytes
    private let secret: SecretBytes

    /// Creates a new invitation.
    init(creatingWith crypto: GroupCrypto) throws(StorageError) {
        try self.init(secret: try crypto.randomKey(Self.secretSize), crypto)
    }

    /// Reads a code.
    ///
    /// - Throws: `invalidOptions` with what is wrong with it.
    package init(code: String, _ crypto: GroupCrypto) throws(StorageError) {
        try self.init(secret: try InvitationCode.secret(of: code), crypto)
    }

    private init(secret: SecretBytes, _ crypto: GroupCrypto) throws(StorageError) {
        self.secret = secret
        signing = try crypto.key(from: secret, .invitationSigningKey)
        signingPublicKey = try crypto.signingPublicKey(of: signing)
        boxKey = try crypto.key(from: secret, .invitationBoxKey)
        guard let id = InvitationID(bytes: try crypto.value(InvitationID.size, from: secret, .invitationID)) else {
            throw StorageError(.unknown, "a derived id is too short")
        }
        self.id = id
    }

    /// The code for people: see ``InvitationCode``. It is a secret.
    package var code: String { InvitationCode.text(of: secret) }
}

/// The text of an invitation's secret, for people to type or paste.
///
/// The 16 bytes of the secret and a checksum of 4 bytes are written in Crockford's Base32, as 8 groups of 4
/// characters: `0123-4567-89AB-...`. The checksum is the upper 32 bits of the FNV-1a hash of 64 bits of the secret,
/// highest byte first. It finds typing errors; it protects nothing. When a code is read, case, spaces and dashes do
/// not matter, O is read as 0, and I and L as 1.
enum InvitationCode {
    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)
    private static let checksumSize = 4
    /// The number of characters without dashes.
    private static let length = (Invitation.secretSize + checksumSize) * 8 / 5

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
    static func secret(of code: String) throws(StorageError) -> SecretBytes {
        var bytes = try bytes(of: digits(of: code))
        defer { for index in bytes.indices { bytes[index] = 0 } }
        guard Array(bytes[Invitation.secretSize...]) == checksum(Array(bytes[..<Invitation.secretSize])) else {
            throw fault("has a typing error: its checksum is wrong")
        }
        return try SecretBytes(count: Invitation.secretSize) { (memory) throws(StorageError) in
            memory.copyBytes(from: bytes[..<Invitation.secretSize])
        }
    }

    /// The value of each character, without spaces and dashes.
    private static func digits(of code: String) throws(StorageError) -> [UInt64] {
        var digits: [UInt64] = []
        for (place, character) in code.enumerated() where !character.isWhitespace && character != "-" {
            guard let digit = digit(character) else {
                throw fault("has the character '\(character)' at place \(place + 1), which codes never have")
            }
            digits.append(digit)
        }
        guard digits.count == length else {
            throw fault("has \(digits.count) letters and digits; expected \(length)")
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

    private static func fault(_ what: String) -> StorageError {
        StorageError(
            .invalidOptions, "the invitation code \(what)", hint: "compare it with the one that the other device shows")
    }
}
