import FoundationEssentials
import LocalDataAPI

extension KeyMaterialSource {
    /// The token that the letter's key comes from.
    static let hardware = KeyMaterialSource(id: "hardware")
}

/// Takes the place of a hardware token or a service that an app asks for a key. This one returns the same key every
/// time.
struct HardwareToken: KeyMaterialProviding {
    func keyMaterial(for keyName: String) async throws -> Data { Data("an example's key is no secret".utf8) }
}
