package import LocalDataAPI

extension HostSettings {
    /// How a store is sealed.
    package struct Sealing: Hashable, Sendable {
        /// The source of the key that seals the store's key ring.
        package enum Source: Hashable, Sendable {
            /// A file that only its owner can read, created at the first use.
            case keyFile(path: String)
            /// A person at the terminal.
            case terminal
            /// A passphrase or key that is read from a file descriptor up to its end.
            case descriptor(Int32)
            /// A file in the folder that systemd passes to a service.
            case credential(name: String)
            /// A value of the keychain domain, created at the first use.
            case keychain(service: String, account: String)
            /// A provider that the app registers.
            case provider(id: String)
        }

        /// The sources' names.
        package static let sources = ["keyFile", "passphrase", "credential", "keychain", "provider"]

        package let source: Source
        package let cipher: AuthenticatedCipher
        /// How the key is derived from the source.
        package let derivation: KeyDerivation
    }

    /// How values are encrypted, and where the master keys are.
    package struct Encryption: Hashable, Sendable {
        package static let defaultService = "LocalData"
        package static let defaultAccount = "master"

        /// The crypto component.
        package var provider: String
        package var service: String
        package var account: String
        /// The size of a new master key in bytes.
        package var keyLength: Int
        /// PBKDF2 iterations of values to be written.
        package var iterations: UInt32
    }
}

extension HostSettings.Sealing.Source {
    /// Whether someone has to supply the key each time.
    var asksForIt: Bool {
        switch self {
        case .terminal, .descriptor, .provider: true
        case .keyFile, .credential, .keychain: false
        }
    }
}

extension HostSettings.Sealing.Source: CustomStringConvertible {
    /// The source in words, e.g. `the key file '/home/ann/.config/localdata/keys/sealed-files.key'`.
    package var description: String {
        switch self {
        case .keyFile(let path): "the key file '\(path)'"
        case .terminal: "a passphrase from the terminal"
        case .descriptor(let number): "a passphrase from descriptor \(number)"
        case .credential(let name): "the credential '\(name)'"
        case .keychain(let service, let account): "'\(account)' of the keychain service '\(service)'"
        case .provider(let id): "the key material provider '\(id)'"
        }
    }
}
