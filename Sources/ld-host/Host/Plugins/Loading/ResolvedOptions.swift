package import FoundationEssentials
internal import HostGround
internal import LocalDataAPI

/// A component's options, checked and complete. Of an option that is a secret, they have its address in the keychain.
package struct ResolvedOptions: Sendable {
    private let values: [String: ComponentOption.Value]
    /// The names of options that are secrets.
    private let secrets: [String]
    /// The component's name in the configuration, for messages.
    private let what: String
    /// The options as a JSON object, the same in every process: a part of a store's identity.
    package let identity: Data

    /// No options.
    init() { (values, secrets, what, identity) = ([:], [], "", Data("{}".utf8)) }

    /// `nil` for numbers that JSON has not.
    init?(_ values: [String: ComponentOption.Value], secrets: [String] = [], of what: String = "") {
        guard let identity = Self.json(values) else { return nil }
        (self.values, self.secrets, self.what, self.identity) = (values, secrets, what, identity)
    }

    /// The options for the component's `open`: a JSON object with the secrets themselves. May wait for the keychain.
    ///
    /// - Parameter read: Reads the secrets; `nil` where there is no keychain.
    /// - Throws: `invalidOptions` for a secret that is missing or is no text; the error of the keychain.
    func revealed(by read: SecretLookup?) throws(StorageError) -> Data {
        guard !secrets.isEmpty else { return identity }
        var values = values
        for name in secrets {
            guard case .string(let address)? = values[name] else { continue }
            values[name] = .string(try secret(at: address, for: name, read))
        }
        return Self.json(values) ?? identity
    }

    private func secret(
        at address: String, for option: String, _ read: SecretLookup?
    ) throws(StorageError) -> String {
        func problem(_ what: String, hint: String) -> StorageError {
            StorageError(
                .invalidOptions, "option '\(option)' of \(self.what) names '\(address)', which \(what)", hint: hint)
        }
        guard let read else { throw problem("only a router can read", hint: "leave the option out") }
        let bytes: SecretBytes?
        do throws(StorageError) { bytes = try read(address) } catch {
            throw StorageError(
                error.code, "option '\(option)' of \(what) names '\(address)', which cannot be read: \(error.message)",
                hint: error.hint)
        }
        guard let bytes else { throw problem("has no value", hint: "store it: ld-host set \(address)") }
        // As files of secrets, a value may end with a line end, which is no part of it.
        let text = bytes.withBytes { bytes in
            let end = bytes.lastIndex { $0 != 10 && $0 != 13 }.map { $0 + 1 } ?? 0
            return String(validating: bytes[..<end], as: UTF8.self)
        }
        guard let text, !text.isEmpty, !text.utf8.contains(0) else {
            throw problem("is empty or not text", hint: "store the secret itself there: ld-host set \(address)")
        }
        return text
    }

    private static func json(_ values: [String: ComponentOption.Value]) -> Data? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return try? encoder.encode(values)
    }
}
