import FoundationEssentials
import TestSupport
import Testing

/// A home with sealed values in three domains, under three master keys and two keys of the keychain's store.
struct KeyHome {
    /// A key as `ld-host keys list --json` prints it.
    struct Key: Decodable {
        let id: String
        let state: String
        let values: Int?
    }

    static let store = "sealed-files"
    /// The address of values that operations replace.
    static let overwritten = "encryptedFileSystem/d"
    static let overwrittenSecret = "keychain:service/b"

    let home: Home
    /// The stored values, by address.
    private(set) var values: [String: [UInt8]] = [:]
    /// A master key that seals no value, but can open.
    private(set) var spare = ""

    /// Makes a home. In an empty one it inspects the plugins, so that a point concerns only values and keys.
    init(isEmpty: Bool) throws {
        home = try Home()
        try home.done("plugins", "list")
        guard !isEmpty else { return }
        try add("keychain:service/a", 32)
        try add("encryptedFileSystem/c", 150_001)
        try home.done("keys", "rotate")
        try home.done("keys", "rotate", "--store", Self.store)
        try add(Self.overwrittenSecret, 150_002)
        try add(Self.overwritten, 33)
        try add("\(custom)/e", 150_003)
        try home.done("keys", "rotate")
        try add("encryptedFileSystem/f", 34)
        try add("\(custom)/g", 0)
        spare = try home.done("keys", "create").text.replacing("\n", with: "")
    }

    /// The domain of values in a folder that the app chose.
    private var custom: String { "encryptedFileSystem:\(home.path.replacing("/", with: "%2F"))%2Fdata%2Fcustom" }

    private mutating func add(_ address: String, _ count: Int) throws {
        let value = SeededGenerator.bytes(count, seed: UInt64(count))
        try home.done("set", address, "--stdin", input: value)
        values[address] = value
    }

    /// The domains whose values are sealed with the master keys.
    var sealedByMasterKeys: [String] { ["encryptedFileSystem", custom] }

    /// Every value that is stored now, by address.
    ///
    /// - Throws: `TestFailure` if one cannot be read.
    func stored() throws -> [String: [UInt8]] {
        try (["keychain:service"] + sealedByMasterKeys).reduce(into: [:]) { found, domain in
            found.merge(try values(of: domain)) { $1 }
        }
    }

    /// The values of one domain, by address.
    ///
    /// - Throws: `TestFailure` if one cannot be read.
    func values(of domain: String, adding variables: [String: String] = [:]) throws -> [String: [UInt8]] {
        let ending = try home.run("export", domain.contains(":") ? domain : "\(domain)/", adding: variables)
        guard ending.status == 0 else { throw TestFailure("\(domain): \(ending.errors)") }
        let entries = try JSONDecoder().decode([String: Entry].self, from: Data(ending.output))
        return entries.reduce(into: [:]) { found, entry in found["\(domain)/\(entry.key)"] = entry.value.bytes }
    }

    /// The keys of a ring.
    func keys(of store: String?, counting: Bool = false) throws -> [Key] {
        let options = (store.map { ["--store", $0] } ?? []) + (counting ? ["--values"] : [])
        let ending = try home.run(BuiltProducts.host, ["keys", "list", "--json"] + options)
        guard ending.status == 0 else { throw TestFailure("keys list: \(ending.errors)") }
        return try JSONDecoder().decode([Key].self, from: Data(ending.output))
    }

    /// A value that is not JSON, as `ld-host export` writes it.
    struct Entry: Decodable {
        let bytes: [UInt8]

        private enum Member: String, CodingKey {
            case base64 = "$base64"
            case text = "$text"
        }

        init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: Member.self)
            if let text = try members.decodeIfPresent(String.self, forKey: .text) {
                bytes = Array(text.utf8)
            } else {
                bytes = Array(try members.decode(Data.self, forKey: .base64))
            }
        }
    }
}
