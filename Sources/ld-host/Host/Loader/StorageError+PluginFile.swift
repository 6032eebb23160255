import Glibc
package import LocalDataAPI

extension StorageError {
    /// The refusal of a plugin file: `finding` goes on where "plugin file /path" ends.
    package static func refusing(_ path: String, _ finding: String, hint: String = "") -> StorageError {
        StorageError(.pluginRefused, "plugin file \(PathText.shown(path)) \(finding)", hint: hint)
    }

    /// The system's own text for an error number, as "No such file or directory".
    package static func systemText(_ number: Int32) -> String {
        strerror(number).map { String(cString: $0) } ?? "error \(number)"
    }
}
