internal import LocalDataAPI

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
