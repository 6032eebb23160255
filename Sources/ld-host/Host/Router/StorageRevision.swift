internal import LocalDataAPI

/// Identifies one write of a value. Each write of a key gets another one, which the key has not had before.
///
/// It means something to the store that returned it; a value that is copied to another store has another one there.
public struct StorageRevision: Hashable, Sendable, Codable {
    let number: UInt64

    init(_ number: UInt64) { self.number = number }
}

extension StorageRevision: LosslessStringConvertible {
    /// The revision in 16 hexadecimal digits, as ``description`` writes it; `nil` for anything else.
    public init?(_ description: String) {
        guard description.utf8.count == 16, let number = UInt64(description, radix: 16), number != 0,
            !description.hasPrefix("+")
        else { return nil }
        self.number = number
    }

    /// 16 hexadecimal digits.
    public var description: String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
