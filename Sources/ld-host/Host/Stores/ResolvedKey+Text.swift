internal import FoundationEssentials
internal import LocalDataAPI

extension ResolvedKey {
    /// A value as a key with the serializer `json` reads it: bytes that are recorded as text, and that are not JSON of
    /// the key's type, become a JSON string.
    func asJSON(_ data: Data, for key: AnyStorageKey) async throws -> Data {
        guard key.descriptor.serializer == .json, (try? key.check(data)) == nil,
            try await storedAttributes()?.isText == true
        else { return data }
        return JSONText.string(data) ?? data
    }
}
