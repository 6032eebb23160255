import FoundationEssentials
import LocalDataAPI
import TestSupport

/// Supplies the key material that a test chooses, and records the requested names.
final class TestMaterial: KeyMaterialProviding {
    struct Unavailable: Error {}

    private let asked = MutexBox<[String]>([])
    private let answer: @Sendable (String) async throws -> Data

    init(_ answer: @escaping @Sendable (String) async throws -> Data) { self.answer = answer }

    /// Returns the same bytes for every name.
    convenience init(byte: UInt8, count: Int = 32) { self.init { _ in Data(repeating: byte, count: count) } }

    var names: [String] { asked.withLock { $0 } }

    func keyMaterial(for keyName: String) async throws -> Data {
        asked.withLock { $0.append(keyName) }
        return try await answer(keyName)
    }
}
