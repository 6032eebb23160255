import FoundationEssentials
import LocalDataAPI

extension KeyMaterialSource {
    /// The token that the letter's key comes from.
    static let hardware = KeyMaterialSource(id: "hardware")
}

/// Stands where an app asks its hardware token, or a service, for a key. This one has the same key for everything.
struct HardwareToken: KeyMaterialProviding {
    func keyMaterial(for keyName: String) async throws -> Data { Data("an example's key is no secret".utf8) }
}
