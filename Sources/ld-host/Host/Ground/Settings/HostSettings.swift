package import FoundationEssentials
package import LocalDataAPI

/// The checked configuration, in the types that the host uses.
package struct HostSettings: Sendable {
    /// A store that the configuration defines.
    package struct Store: Hashable, Sendable {
        /// The store's name.
        package let name: String
        /// The component that serves it.
        package let component: String
        /// The options as configured, as a JSON object with sorted members.
        package let options: [String: ComponentOption.Value]
        /// Where the component was named.
        package let origin: String
        /// The most concurrent calls.
        package let concurrency: Int
        /// The deadline of calls to network and interactive stores.
        package let timeout: Duration
        /// How values are sealed before they go to the store; `nil` if they are not.
        package let sealing: Sealing?

        package init(
            name: String,
            component: String,
            options: [String: ComponentOption.Value],
            origin: String,
            concurrency: Int,
            timeout: Duration,
            sealing: Sealing?
        ) {
            self.name = name
            self.component = component
            self.options = options
            self.origin = origin
            self.concurrency = concurrency
            self.timeout = timeout
            self.sealing = sealing
        }

        /// Equal stores are the same store, wherever they were named; this is the identity of an open store.
        package static func == (left: Store, right: Store) -> Bool {
            left.name == right.name && left.component == right.component && left.options == right.options
                && left.concurrency == right.concurrency && left.timeout == right.timeout
                && left.sealing == right.sealing
        }

        package func hash(into hasher: inout Hasher) {
            hasher.combine(name)
            hasher.combine(component)
            hasher.combine(options)
        }
    }

    /// A configured migration pack.
    package struct Pack: Hashable, Sendable {
        /// The pack's name.
        package let name: String
        /// The pack's component.
        package let component: String
        /// The options as configured.
        package let options: [String: ComponentOption.Value]
        /// Where the component was named.
        package let origin: String
        /// The deadline of one run of one of its migrations.
        package let timeout: Duration

        package init(
            name: String, component: String, options: [String: ComponentOption.Value], origin: String, timeout: Duration
        ) {
            self.name = name
            self.component = component
            self.options = options
            self.origin = origin
            self.timeout = timeout
        }
    }

    /// How values get to the user's other devices.
    package struct Sync: Hashable, Sendable {
        /// The configured transport.
        package struct Transport: Hashable, Sendable {
            /// The transport's component.
            package let component: String
            /// The options as configured.
            package let options: [String: ComponentOption.Value]
            /// Where the component was named.
            package let origin: String

            package init(component: String, options: [String: ComponentOption.Value], origin: String) {
                self.component = component
                self.options = options
                self.origin = origin
            }
        }

        /// What carries the changes; `nil` if nothing does.
        package var transport: Transport?
        /// The size in bytes up to which values of keys with `automaticSmall` are synced.
        package var maxAutoSyncSize: Int
        /// The number of days after which a device that was away has to join again.
        package var forget: Int
    }

    /// The store that serves a domain.
    package struct Route: Hashable, Sendable {
        package let store: Store
        /// Where the domain's store was named, e.g. a file and line, or `default`.
        package let origin: String
    }

    package var pluginPlaces: [PluginSearchPath.Place]
    package var inspectionTimeout: Duration
    /// Routes by domain name.
    package var routes: [String: Route]
    /// Why this program may not use a domain any more.
    package var refusals: [String: StorageError]
    /// The configured stores by name, used or not.
    package var stores: [String: Store]
    /// The catalog files that describe keys, in the order of the configuration.
    package var catalogs: [String]
    package var encryption: Encryption
    /// The app whose data is meant where a key names no suite, service or folder; empty for the data of no app.
    package var appID: String
    package var keychainService: String?
    /// Whether the policies of keys apply to values that are only in this process's memory; not so in a router for an
    /// app's tests.
    package var sealsMemory: Bool
    /// Whether the process ends after one command, which prints what failed: a move to its memory would lose a value.
    package var endsAfterCommand: Bool
    /// Whether to serve keys whose accessibility or access control cannot be enforced.
    package var isAccessibilityAdvisory: Bool
    package var isAccessControlAdvisory: Bool
    package var appGroup: String?
    package var appGroupsFolder: String
    package var subDirectory: String?
    package var folders: Folders
    package var appVersion: String?
    /// The app version assumed for data without a recorded one.
    package var dataVersion: String?
    /// The user's choices, for migrations.
    package var migrationPreferences: [String: AnyCodable]
    /// How many days the values that a migration replaced or removed are kept.
    package var migrationGrace: Int
    package var sync: Sync
    package var role: DeviceRole
    package var logLevel: StorageLogLevel?
    /// The migration packs, ordered by name.
    package var packs: [Pack] = []

    /// The folders for placeholders in options.
    package struct Folders: Hashable, Sendable {
        package var data: String
        package var cache: String
        package var state: String
        package var config: String

        package init(data: String, cache: String, state: String, config: String) {
            self.data = data
            self.cache = cache
            self.state = state
            self.config = config
        }

        /// Where the locks of key rings are.
        package var rings: String { "\(state)/rings" }

        /// Where the journal is.
        package var journal: String { "\(state)/journal" }

        /// Where the journal of batches is: beside the values that they have staged, which mean nothing without it. A
        /// state folder may be gone after a restart.
        package var batches: String { "\(data)/localdata.batches/journal" }

        /// Where the locks of migrations are.
        package var migrations: String { "\(state)/migrations" }
    }
}

/// The host's own domains. None of them can be configured.
extension HostSettings {
    /// The prefix of their names; case is ignored.
    package static let reservedDomains = "localdata."

    /// Where a store keeps the ledger of its migrations, and the old values that they replaced and removed.
    package static let ledgerNamespace = StorageNamespace(domain: reservedDomains + "migrations")

    /// Where a store keeps what sync knows of its values.
    package static let syncNamespace = StorageNamespace(domain: reservedDomains + "sync")

    /// Where the keychain's store keeps the list of key rings.
    package static let ringListDomain = reservedDomains + "rings"

    /// Whether a namespace is the host's own, apart from those of the ledger, of sync and of the list of rings, whose
    /// contents are sealed and copied like values.
    package static func isReserved(_ place: StorageNamespace) -> Bool {
        place.domain.lowercased().hasPrefix(reservedDomains) && place != ledgerNamespace
            && place != syncNamespace && place.domain != ringListDomain
    }
}

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
    package var asksForIt: Bool {
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

/// How the key of a sealed record is derived from the key material; missing salts are random for each record.
package enum KeyDerivation: Hashable, Sendable {
    case hkdf(salt: Data? = nil, info: Data? = nil)
    case pbkdf2(iterations: UInt32, salt: Data? = nil)
    case argon2id(passes: UInt32, memory: UInt32)

    /// The functions that envelopes support.
    package static let functions: [KeyDerivationFunction] = [.hkdfSHA256, .pbkdf2HMACSHA256, .argon2id]

    /// The function that is applied to the material.
    package var function: KeyDerivationFunction {
        switch self {
        case .hkdf: .hkdfSHA256
        case .pbkdf2: .pbkdf2HMACSHA256
        case .argon2id: .argon2id
        }
    }
}
