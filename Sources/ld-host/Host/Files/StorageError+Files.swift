internal import Glibc
package import LocalDataAPI

extension StorageError {
    /// The system's own text for an error number, e.g. "No such file or directory".
    package static func systemText(_ number: Int32) -> String {
        strerror(number).map { String(cString: $0) } ?? "error \(number)"
    }
}

/// Runs code that throws any error, and converts it to a `StorageError` that keeps its description.
func storageErrors<Value>(_ body: () throws -> Value) throws(StorageError) -> Value {
    do { return try body() } catch { throw StorageError(wrapping: error) }
}
