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
