import LocalDataAPI

/// What the scanner found wrong with a text, and at which byte.
struct ConfigurationFault: Error {
    var offset: Int
    var message: String
    var hint = ""
    /// For a repeated key: where it stands first.
    var firstOffset: Int?

    /// The error with the names of the file and the place.
    func located(in source: String, lines: ConfigurationLines) -> StorageError {
        let (line, column) = lines.place(of: offset)
        let first = firstOffset.map { ", first on line \(lines.place(of: $0).line) and again on line \(line)" } ?? ""
        return StorageError(.invalidConfiguration, "\(source):\(line):\(column): \(message)\(first)", hint: hint)
    }
}
