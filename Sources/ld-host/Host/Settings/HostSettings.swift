package import LocalDataAPI

/// The configuration in the types that the host works with; everything in it has been checked.
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
        /// The most calls at a time.
        package let concurrency: Int
        /// The deadline of calls to network and interactive stores.
        package let timeout: Duration
        /// How values are sealed before the store gets them; `nil` for not at all.
        package let sealing: Sealing?

        /// Two are the same store, whoever named it: what an open one is found again by.
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

    /// A migration pack that the configuration names.
    package struct Pack: Hashable, Sendable {
        /// The pack's name.
        package let name: String
        /// The component that it is.
        package let component: String
        /// The options as configured.
        package let options: [String: ComponentOption.Value]
        /// Where the component was named.
        package let origin: String
        /// The deadline of one run of one of its migrations.
        package let timeout: Duration
    }

    /// Which store serves a domain.
    package struct Route: Hashable, Sendable {
        package let store: Store
        /// Where the domain's store was named, e.g. a file and line, or `default`.
        package let origin: String
    }

    package var pluginPlaces: [PluginSearchPath.Place]
    package var inspectionTimeout: Duration
    /// Routes by domain name.
    package var routes: [String: Route]
    /// The stores that the configuration defines, by name, used or not.
    package var stores: [String: Store]
    /// The files of the catalogs that describe keys, in the order of the configuration.
    package var catalogs: [String]
    package var encryption: Encryption
    package var keychainService: String?
    /// Whether the policies of keys are applied to what is only in this process's memory; not by a router for tests of
    /// an app.
    package var sealsMemory: Bool
    /// Whether keys whose accessibility or access control cannot be enforced are served all the same.
    package var isAccessibilityAdvisory: Bool
    package var isAccessControlAdvisory: Bool
    package var appGroup: String?
    package var appGroupsFolder: String
    package var subDirectory: String?
    package var folders: Folders
    package var appVersion: String?
    /// The version of the app that wrote data which does not say it.
    package var dataVersion: String?
    /// What migrations are told of the user's choices.
    package var migrationPreferences: [String: AnyCodable]
    /// How many days what a migration replaced or removed is kept.
    package var migrationGrace: Int
    package var role: DeviceRole
    package var logLevel: StorageLogLevel?
    /// The migration packs, in order of their names.
    package var packs: [Pack] = []

    /// The folders that placeholders in options stand for.
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
