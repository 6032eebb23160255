package import LocalDataAPI

/// One thing that is wrong with a configuration, and where.
package struct ConfigurationProblem: Error, Equatable {
    /// The key path.
    package let path: [String]
    /// Where the value comes from: a file with line and column, a flag, code.
    package let origin: ConfigurationOrigin
    /// What is wrong: what was expected and what was found.
    package let message: String
    /// What to do about it; may be empty.
    package let hint: String

    /// All problems as one error of the code `invalidConfiguration`, a line for each; nil if there are none.
    package static func error(for problems: [ConfigurationProblem]) -> StorageError? {
        guard let first = problems.first else { return nil }
        if problems.count == 1 { return first.error }
        return StorageError(.invalidConfiguration, problems.map(\.description).joined(separator: "\n"))
    }

    /// As an error of the code `invalidConfiguration`.
    var error: StorageError { StorageError(.invalidConfiguration, text, hint: hint) }

    private var text: String {
        let place = path.isEmpty ? "" : "\(ConfigurationPath(path)): "
        return "\(origin.placed): \(place)\(message)"
    }
}

extension ConfigurationProblem: CustomStringConvertible {
    /// Origin, key path, message, and the hint in brackets.
    package var description: String { hint.isEmpty ? text : "\(text) (\(hint))" }
}
