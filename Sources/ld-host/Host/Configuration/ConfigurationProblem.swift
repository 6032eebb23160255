/// One thing that is wrong in a configuration.
package struct ConfigurationProblem: Hashable, Sendable, CustomStringConvertible {
    /// The file with line and column, or the flag.
    package let place: String
    /// The setting.
    package let path: ConfigurationPath
    /// What was expected and found.
    package let message: String
    /// What to do, or what the setting is for.
    package let hint: String

    /// `FILE:3:5: domains.userdefaults: there is no domain ... (did you mean ...)`.
    package var description: String { "\(place): \(path): \(message) (\(hint))" }
}
