package import LocalDataAPI

/// A flag of the command line that has a say in the configuration.
package enum ConfigurationFlag: Sendable, Equatable {
    /// `--config FILE`: one more file.
    case file(String)
    /// `-c KEY=VALUE`: one value.
    case assignment(String)
}

extension ConfigurationLayer {
    /// The layer of one `-c KEY=VALUE`.
    ///
    /// KEY is a path in its text form. VALUE is JSON5 if it parses as such, else a plain string; for a key that takes
    /// only strings, a value that is not in quotes is plain too, so that `app.version=1.10` keeps its zero.
    ///
    /// - Throws: `invalidConfiguration` if there is no equals sign or the key is not well formed.
    package init(assignment: String, schema: ConfigurationSchema = .host) throws(StorageError) {
        let (path, rest) = try ConfigurationPath.prefix(of: assignment)
        guard rest.first == "=" else {
            throw StorageError(
                .invalidConfiguration, "-c \(assignment): expected KEY=VALUE, found no equals sign",
                hint: "for example -c log.level=debug")
        }
        let text = String(rest.dropFirst())
        var value = (try? JSONValue(json5: text, source: "-c")) ?? .string(text)
        if schema.rule(for: path.segments)?.kind.takesText == true {
            switch value {
            case .integer, .double, .bool, .null: value = .string(text)
            case .string, .array, .object: break
            }
        }
        self.init(
            .flag, source: "flag -c \(assignment)", value: JSONValue.object([:]).setting(value, at: path.segments))
    }
}
