#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// Coding with errors that name the key.
extension StorageKey {
    /// The bytes of a value.
    ///
    /// - Throws: `serializationFailed`.
    package func encode(_ value: Value) throws(StorageError) -> Data {
        do { return try serializer.encode(value) } catch { throw naming(error) }
    }

    /// The value in bytes.
    ///
    /// - Throws: `deserializationFailed`.
    package func decode(_ data: Data) throws(StorageError) -> Value {
        do { return try serializer.decode(data) } catch { throw naming(error) }
    }

    private func naming(_ error: StorageError) -> StorageError {
        StorageError(error.code, "'\(domain)/\(name)': \(error.message)", hint: error.hint)
    }
}
