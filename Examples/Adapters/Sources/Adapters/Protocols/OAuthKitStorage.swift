// The part of OAuthKit that an adapter conforms to, rewritten here; it follows github.com/codefiesta/OAuthKit, release
// 2.2.0 of August 2026 (Keychain+Storage.swift). The protocol is not public: issue 152 asks for an adapter in OAuthKit.
import FoundationEssentials

/// OAuthKit's access to secrets. It takes a lock around each call of its storage.
enum Keychain {
    /// Stores the tokens of one account.
    protocol Storage {
        init(account: String)
        var account: String { get }

        /// The names of the account's entries, as ``accountKey(_:)`` makes them.
        var keys: [String] { get }
        /// Stores data under `accountKey(key)`.
        func set(_ data: Data, for key: String) throws -> Bool
        /// The data under `accountKey(key)`.
        func get(key: String) throws -> Data?
        /// Removes an entry. OAuthKit passes the entry's whole name, not the key.
        func delete(key: String) -> Bool
        /// Removes all entries of the account.
        func clear() -> Bool
        /// The name of a key's entry.
        func accountKey(_ key: String) -> String
    }
}

extension Keychain.Storage {
    func accountKey(_ key: String) -> String { "\(account).\(key).oauth-token" }
}
