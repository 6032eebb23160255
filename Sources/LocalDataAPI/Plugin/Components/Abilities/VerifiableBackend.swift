/// A store that records a checksum with each value and verifies it. Ability `localdata.store.verification/1`.
///
/// Such a store never returns a corrupt value as sound: `get` and `read` fail with `corrupt`, `read` at the end at the
/// latest, and a bulk read passes `nil` for its bytes.
public protocol VerifiableBackend: StorageBackend {
    /// Reads the whole value and compares it with the record; `nil` if there is no value. Changes nothing.
    ///
    /// - Throws: `corrupt` for a value whose bytes are not those that were stored.
    func verify(_ key: Key) throws -> ValueState?
}
