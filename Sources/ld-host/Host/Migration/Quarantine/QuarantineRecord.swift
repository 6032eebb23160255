package import FoundationEssentials
package import LocalDataAPI

/// The record of a value in quarantine. It does not have the value.
package struct QuarantineRecord: Codable, Sendable {
    private static let currentForm = 1

    private var form = currentForm
    /// The key that the value was stored under.
    package let key: LedgerRow.Change
    /// Why no version reads it.
    package let reason: String
    /// The attributes that were recorded with the value.
    private let kept: KeptAttributes
    /// Whether a program that reads the value puts it back: nobody has set or removed the key since.
    var isWaiting: Bool?
    /// When another device wrote it, in nanoseconds since 1970 UTC, if it came from one.
    package var written: Int64?
    /// In bytes.
    package let size: Int
    /// When it was put there, in nanoseconds since 1970 UTC.
    package let date: Int64

    init(_ key: AnyStorageKey, _ value: Data, _ attributes: ValueAttributes?, mark: UInt64, reason: String) {
        self.key = LedgerRow.Change(key, mark: mark)
        self.reason = reason
        kept = KeptAttributes(attributes)
        size = value.count
        date = Ledger.now
    }

    package var attributes: ValueAttributes { kept.attributes ?? ValueAttributes() }

    /// - Throws: `corrupt` for other bytes, `unsupported` for those of a later program.
    package init(_ bytes: Data, id: String) throws(StorageError) {
        struct Form: Decodable { let form: Int }
        do {
            let form = try JSONDecoder().decode(Form.self, from: bytes).form
            guard form <= Self.currentForm else {
                throw StorageError(
                    .unsupported, "the record of '\(id)' in quarantine has form \(form), expected \(Self.currentForm)",
                    hint: "use the program that wrote it, or a later one")
            }
            self = try JSONDecoder().decode(QuarantineRecord.self, from: bytes)
        } catch let error as StorageError { throw error } catch {
            throw StorageError(.corrupt, "the record of '\(id)' in quarantine is damaged")
        }
    }
}
