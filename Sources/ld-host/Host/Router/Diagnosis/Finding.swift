package import HostGround
internal import LocalDataAPI

/// One result of the diagnosis, for people, and with its code for programs.
package struct Finding: Encodable, Sendable {
    /// What was examined. The words are a promise to programs: `ld-host doctor --json` prints them.
    package enum Code: String, Encodable, CaseIterable, Sendable {
        /// The settings.
        case configuration
        /// Who else can change files and folders.
        case access
        /// The plugins' files.
        case plugins
        /// The store that serves a domain.
        case domain
        /// A store's service.
        case store
        /// A store's soundness, as far as the store checks it.
        case damage
        /// Each value, read and compared with its checksum.
        case scrub
        /// How a store seals.
        case sealing
        /// The master keys.
        case keys
        /// The crypto provider.
        case provider
        /// Work of this host that is under way or was interrupted.
        case interrupted
        /// Migrations, their packs, and values that they are to move.
        case migration
        /// Values that no app reads.
        case quarantine
        /// Values in a store that no longer serves their domain.
        case leftValues
        /// Syncing with other devices.
        case sync
    }

    package let code: Code
    package let text: String
    package let hint: String
    package let isProblem: Bool
    /// The code of the error that it reports, if it reports one.
    package let error: String?

    init(_ code: Code, _ text: String, hint: String = "", isProblem: Bool = false, error: String? = nil) {
        self.code = code
        self.text = text
        self.hint = hint
        self.isProblem = isProblem
        self.error = error
    }

    init(_ code: Code, _ error: StorageError) {
        self.init(
            code, error.mistakes.joined(separator: "; "), hint: error.hint, isProblem: true, error: "\(error.code)")
    }

    init(_ code: Code, _ what: String, _ error: StorageError) {
        self.init(
            code, "\(what): \(error.mistakes.joined(separator: "; "))", hint: error.hint, isProblem: true,
            error: "\(error.code)")
    }
}

extension Finding {
    /// A problem of the configuration, or of files and folders.
    package init(_ problem: ConfigurationProblem, _ code: Code = .configuration) {
        self.init(code, problem.error.message, hint: problem.hint, isProblem: true)
    }
}
