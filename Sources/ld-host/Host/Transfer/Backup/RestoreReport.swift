package import HostGround
package import HostStores

/// What a restore may do.
package struct RestoreTerms: Sendable {
    /// Whether to replace different values.
    package var overwrites = false
    /// The folders outside of the host's own that values may be restored to.
    package var folders = NamedFolders.none
    /// Whether the user's key rings get the keys of the backup, to open with them.
    package var takesKeys = false
    /// Whether to verify and compare only.
    package var isPlan = false

    package init() {}
}

/// What a backup has that the stores do not have, and what was restored.
package struct RestoreReport: Encodable, Sendable {
    /// A domain of the backup.
    package struct Domain: Encodable, Sendable {
        package let domain: String
        /// The store that serves it here.
        package let store: String
        /// The number of values that the store does not have.
        package internal(set) var new = 0
        /// The number of values that the store has, byte for byte.
        package internal(set) var same = 0
        /// The number of values that are different in the store.
        package internal(set) var different = 0
        /// The number of values that only the store has; they stay.
        package internal(set) var onlyStored = 0
    }

    /// A value that the backup would store.
    package struct Change: Encodable, Sendable {
        package let address: String
        /// Whether it would replace another value.
        package let replaces: Bool
        /// The folder outside of the host's own that it belongs to.
        package let folder: String?
        /// Whether the user has to name that folder.
        package let needsFolder: Bool
    }

    /// A key ring of the backup with keys that no ring here has.
    package struct Ring: Encodable, Sendable {
        /// Its address in the keychain.
        package let ring: String
        /// The ids of these keys.
        package let keys: [String]
        /// Whether there is no such ring here.
        package let isNew: Bool
    }

    static let mostConflicts = 20

    package let file: String
    /// The version of the program that made the backup.
    package internal(set) var version = ""
    /// When it was made, to the second.
    package internal(set) var created = JSONTime(seconds: 0)
    package internal(set) var domains: [Domain] = []
    /// The number of values that have expired since the backup was made; they are left out.
    package internal(set) var expired = 0
    /// Some addresses where the store has another value.
    package internal(set) var conflicts: [String] = []
    /// The values to be restored, in the order of the file; only in a plan.
    package internal(set) var changes: [Change]?
    /// The rings whose keys only the backup has.
    package internal(set) var rings: [Ring] = []
    /// Whether rings here get, or would get, those keys.
    package internal(set) var takesKeys: Bool
    /// The number of restored values that are sealed under a key of this user, in place of one that only the backup
    /// has.
    package internal(set) var resealed = 0
    /// The number of restored values that stay under a key that no ring here has, as the backup does not open them.
    package internal(set) var unopened = 0
    /// The number of the ledger's entries that are missing here, or to be replaced.
    package internal(set) var ledger = 0
    /// The number of values, rings and entries of the ledger that were restored.
    package internal(set) var restored = 0

    init(file: String, _ terms: RestoreTerms) {
        self.file = file
        takesKeys = terms.takesKeys
        changes = terms.isPlan ? [] : nil
    }
}
