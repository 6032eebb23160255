internal import ByteCoding
package import FoundationEssentials
internal import HostGround
package import LocalDataAPI

/// The ledger's page of one destination: what has been migrated to it. It lies in the destination's store, so that what
/// it says and what it is about change as one.
package struct LedgerPage: Codable, Sendable {
    private static let form = 2
    /// That of pages of which no row is superseded: earlier programs read it.
    private static let plainForm = 1

    private var form: Int
    /// The destination.
    package let address: String
    /// In the order of their first run.
    package private(set) var rows: [LedgerRow] = []

    init(of address: String) {
        form = Self.plainForm
        self.address = address
    }

    /// - Throws: `corrupt` if the bytes are no page of this destination, `unsupported` if a later program wrote them:
    ///   what cannot be read is not a migration that never ran.
    package init(_ bytes: Data, of address: String) throws(StorageError) {
        let page: LedgerPage
        guard Self.isWhole(bytes) else { throw Self.damaged(address) }
        do { page = try JSONDecoder().decode(LedgerPage.self, from: bytes) } catch {
            struct Form: Decodable { let form: Int }
            if let form = try? JSONDecoder().decode(Form.self, from: bytes).form, form > Self.form {
                throw Self.later(form, address)
            }
            throw Self.damaged(address)
        }
        guard page.form <= Self.form else { throw Self.later(page.form, address) }
        guard page.rows.allSatisfy({ $0.bulk?.isSound != false }) else {
            throw StorageError(
                .corrupt, "the ledger of migrations to '\(address)' is damaged: its counts contradict each other",
                hint: "restore it from a backup, or see: ld-host migrate ledger repair")
        }
        guard page.address.hasBytes(of: address) else {
            throw StorageError(.corrupt, "the ledger of migrations to '\(address)' is the one of '\(page.address)'")
        }
        self = page
    }

    /// The destination that bytes say they are the page of, if they say it.
    package static func address(in bytes: Data) -> String? {
        struct Address: Decodable { let address: String }
        return try? JSONDecoder().decode(Address.self, from: bytes).address
    }

    private static func damaged(_ address: String) -> StorageError {
        StorageError(
            .corrupt, "the ledger of migrations to '\(address)' is damaged",
            hint: "restore it from a backup, or see: ld-host migrate ledger repair")
    }

    private static func later(_ form: Int, _ address: String) -> StorageError {
        StorageError(
            .unsupported, "the ledger of migrations to '\(address)' has form \(form), expected \(Self.form)",
            hint: "use the program that wrote it, or a later one")
    }

    /// JSON whose first member is the hash of what it would be without.
    func encoded() throws(StorageError) -> Data {
        var page = self
        page.form = rows.contains { $0.superseded != nil } ? Self.form : Self.plainForm
        let json = try Serializer<LedgerPage>.json.encode(page)
        return Self.prefix + Data(Self.digits(of: json).utf8) + Self.separator + json.dropFirst()
    }

    /// Whether a page has the hash of its bytes; what was written before pages had one counts as whole.
    private static func isWhole(_ bytes: Data) -> Bool {
        guard bytes.starts(with: prefix) else { return true }
        let rest = bytes.dropFirst(prefix.count)
        guard rest.dropFirst(16).starts(with: separator) else { return false }
        return rest.prefix(16).elementsEqual(
            digits(of: Data("{".utf8) + rest.dropFirst(16 + separator.count)).utf8)
    }

    private static func digits(of json: Data) -> String {
        let digits = String(StableHash.of(json), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    private static let prefix = Data("{\"hash\":\"".utf8)
    private static let separator = Data("\",".utf8)

    /// The row of a migration; set it to add or replace one.
    subscript(id: String) -> LedgerRow? {
        get { rows.first { $0.id == id } }
        set {
            guard let newValue else { return rows.removeAll { $0.id == id } }
            if let index = rows.firstIndex(where: { $0.id == id }) {
                rows[index] = newValue
            } else {
                rows.append(newValue)
            }
        }
    }
}
