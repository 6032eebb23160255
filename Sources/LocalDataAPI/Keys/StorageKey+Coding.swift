#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Coding with errors that name the key. Each call of a method of a generic type looks up the type's metadata, which
/// costs as much as a twentieth of a write: so they are inlined.
extension StorageKey {
    /// The bytes of a value.
    ///
    /// - Throws: `serializationFailed`.
    @inlinable @inline(__always)
    package func encode(_ value: Value) throws(StorageError) -> Data {
        do { return try serializer.encode(value) } catch { throw naming(error) }
    }

    /// The value in bytes.
    ///
    /// - Throws: `deserializationFailed`.
    @inlinable @inline(__always)
    package func decode(_ data: Data) throws(StorageError) -> Value {
        do { return try serializer.decode(data) } catch { throw naming(error) }
    }

    @usableFromInline
    func naming(_ error: StorageError) -> StorageError {
        StorageError(error.code, "'\(domain)/\(name)': \(error.message)", hint: error.hint)
    }
}
