package import LocalDataAPI

/// One source of configuration values.
package struct ConfigurationLayer: Sendable {
    /// The kinds of layers, from the weakest to the strongest.
    package enum Name: String, Sendable, CaseIterable {
        /// Built in.
        case `default`
        /// The file of the machine.
        case system
        /// The file of the user.
        case user
        /// The file named by `LOCALDATA_CONFIG`.
        case environment
        /// The command line.
        case flag
        /// Calls of the app.
        case code
    }

    /// The kind of this layer.
    package let name: Name
    /// The file's path, or a description.
    package let source: String
    /// The layer's content; an object.
    package let value: JSONValue
    /// The text behind the value; nil for layers that are no file.
    package let document: ConfigurationDocument?

    /// A layer from a file.
    package init(_ name: Name, _ document: ConfigurationDocument) {
        self.name = name
        self.source = document.source
        self.value = document.value
        self.document = document
    }

    /// A layer without a file, with a description in place of the path.
    package init(_ name: Name, source: String, value: JSONValue) {
        self.name = name
        self.source = source
        self.value = value
        self.document = nil
    }

    /// Where a path stands in this layer: its key, or the value if `ofValue`.
    package func origin(of path: [String], ofValue: Bool = false) -> ConfigurationOrigin {
        let place = ofValue ? document?.valuePlace(of: path) : document?.place(of: path)
        return ConfigurationOrigin(layer: name, source: source, line: place?.line, column: place?.column)
    }
}

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
    /// - Throws: `invalidConfiguration` if there is no equals sign, the key is not well formed, or the value of a key
    ///   that takes no text begins as an object or array and is none.
    package init(assignment: String, schema: ConfigurationSchema = .host) throws(StorageError) {
        let (path, rest) = try ConfigurationPath.prefix(of: assignment)
        guard rest.first == "=" else {
            throw StorageError(
                .invalidConfiguration, "-c \(assignment): expected KEY=VALUE, found no equals sign",
                hint: "for example -c log.level=debug")
        }
        let text = String(rest.dropFirst())
        let kind = schema.rule(for: path.segments)?.kind
        var value: JSONValue
        do throws(StorageError) { value = try JSONValue(json5: text, source: "the value of \(path)") } catch {
            if let kind, !kind.takesText, let first = text.first, "{[".contains(first) { throw error }
            value = .string(text)
        }
        if kind?.takesText == true {
            switch value {
            case .integer, .double, .bool, .null: value = .string(text)
            case .string, .array, .object: break
            }
        }
        let shown = PasswordText.isIn(text) ? "\(path)=..." : assignment
        self.init(
            .flag, source: "flag -c \(shown)", value: JSONValue.object([:]).setting(value, at: path.segments))
    }
}

/// Where a value of the configuration comes from.
package struct ConfigurationOrigin: Sendable, Equatable {
    /// The layer.
    package let layer: ConfigurationLayer.Name
    /// The file's path, or a description such as `flag -c log.level=off`.
    package let source: String
    /// The line in the file, from 1; nil if the layer is no file.
    package let line: Int?
    /// The column in the file, from 1; nil if the layer is no file.
    package let column: Int?

    package init(layer: ConfigurationLayer.Name, source: String, line: Int?, column: Int?) {
        self.layer = layer
        self.source = source
        self.line = line
        self.column = column
    }

    /// Source, line and column, as compilers print them.
    package var placed: String {
        guard let line, let column else { return source }
        return "\(source):\(line):\(column)"
    }
}

extension ConfigurationOrigin: CustomStringConvertible {
    /// Source and line: `/etc/localdata/config.json:4`, `default`, `flag -c log.level=off`, `code`.
    package var description: String { line.map { "\(source):\($0)" } ?? source }
}

/// The names an operator makes up: of stores and of custom domains.
package enum ConfigurationName {
    /// The domains every installation has.
    package static let knownDomains = [
        "userDefaults", "appGroupUserDefaults", "keychain", "fileSystem", "encryptedFileSystem", "appGroupFileSystem",
    ]

    /// The rule in words.
    package static let rule = "a letter, then at most 63 letters, digits, dots, underscores or hyphens, all of ASCII"

    /// Whether a name matches `[A-Za-z][A-Za-z0-9._-]{0,63}`.
    package static func isValid(_ name: String) -> Bool {
        guard (1...64).contains(name.utf8.count), let first = name.utf8.first, isLetter(first) else { return false }
        return name.utf8.allSatisfy {
            isLetter($0) || UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || "._-".utf8.contains($0)
        }
    }

    /// The known domain that a name, at most two edits away from it, was most likely meant to be.
    package static func mistypedDomain(_ name: String) -> String? {
        knownDomains.contains(name) ? nil : EditDistance.nearest(to: name, in: knownDomains, within: 2)
    }

    private static func isLetter(_ byte: UInt8) -> Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= (byte | 0x20) }
}
