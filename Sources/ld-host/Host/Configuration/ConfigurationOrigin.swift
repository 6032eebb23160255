/// Where a configuration value comes from.
package struct ConfigurationOrigin: Hashable, Sendable, CustomStringConvertible {
    /// The layers, from the weakest to the strongest.
    package enum Layer: String, CaseIterable, Hashable, Sendable {
        case `default`, system, user, environment, flag, code
    }

    package let layer: Layer
    /// The file's path or the flag's text; empty for defaults and code.
    package let source: String
    /// The line in a file.
    package let line: Int?

    /// `default`, `/etc/localdata/config.json:4`, `flag -c app.version=2`, `code`.
    package var description: String {
        switch layer {
        case .default, .code: layer.rawValue
        case .flag where line == nil: "flag \(source)"
        default: line.map { "\(source):\($0)" } ?? source
        }
    }
}
