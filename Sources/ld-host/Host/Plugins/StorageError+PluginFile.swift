package import LocalDataAPI

extension StorageError {
    /// The refusal of a plugin file: `finding` follows "plugin file /path".
    package static func refusing(_ path: String, _ finding: String, hint: String = "") -> StorageError {
        StorageError(.pluginRefused, "plugin file \(PathText.shown(path)) \(finding)", hint: hint)
    }
}
