internal import FoundationEssentials
internal import LocalDataAPI

/// The ledger's page of one destination: what has been migrated to it. It lies in the destination's store, so that what
/// it says and what it is about change as one.
struct LedgerPage: Codable, Sendable {
    private static let form = 1

    private let form: Int
    /// The destination.
    let address: String
    /// In the order of their first run.
    private(set) var rows: [LedgerRow] = []

    init(of address: String) {
        form = Self.form
        self.address = address
    }

    /// - Throws: `corrupt` if the bytes are no page of this destination, `unsupported` if a later program wrote them:
    ///   what cannot be read is not a migration that never ran.
    init(_ bytes: Data, of address: String) throws(StorageError) {
        let page: LedgerPage
        do { page = try JSONDecoder().decode(LedgerPage.self, from: bytes) } catch {
            struct Form: Decodable { let form: Int }
            if let form = try? JSONDecoder().decode(Form.self, from: bytes).form, form > Self.form {
                throw Self.later(form, address)
            }
            throw StorageError(
                .corrupt, "the ledger of migrations to '\(address)' is damaged",
                hint: "restore it from a backup, or see: ld-host migrate ledger repair")
        }
        guard page.form <= Self.form else { throw Self.later(page.form, address) }
        guard page.address.utf8.elementsEqual(address.utf8) else {
            throw StorageError(.corrupt, "the ledger of migrations to '\(address)' is the one of '\(page.address)'")
        }
        self = page
    }

    /// The destination that bytes say they are the page of, if they say it.
    static func address(in bytes: Data) -> String? {
        struct Address: Decodable { let address: String }
        return try? JSONDecoder().decode(Address.self, from: bytes).address
    }

    private static func later(_ form: Int, _ address: String) -> StorageError {
        StorageError(
            .unsupported, "the ledger of migrations to '\(address)' has form \(form), expected \(Self.form)",
            hint: "use the program that wrote it, or a later one")
    }

    func encoded() throws(StorageError) -> Data { try Serializer<LedgerPage>.json.encode(self) }

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
