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
    /// The configured stores by name, used or not.
    package var stores: [String: Store]
    /// The catalog files that describe keys, in the order of the configuration.
    package var catalogs: [String]
    package var encryption: Encryption
    package var keychainService: String?
    /// Whether the policies of keys apply to values that are only in this process's memory; not so in a router for an
    /// app's tests.
    package var sealsMemory: Bool
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

        /// Where the locks of key rings are.
        var rings: String { "\(state)/rings" }

        /// Where the journal is.
        var journal: String { "\(state)/journal" }

        /// Where the locks of migrations are.
        var migrations: String { "\(state)/migrations" }
    }
}
