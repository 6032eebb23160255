import FoundationEssentials
import LocalDataAPI
import TestSupport

/// Supplies key material as a test wants it, and remembers the names that it was asked for.
final class TestMaterial: KeyMaterialProviding {
    struct Unavailable: Error {}

    private let asked = MutexBox<[String]>([])
    private let answer: @Sendable (String) async throws -> Data

    init(_ answer: @escaping @Sendable (String) async throws -> Data) { self.answer = answer }

    /// Gives the same bytes for every name.
    convenience init(byte: UInt8, count: Int = 32) { self.init { _ in Data(repeating: byte, count: count) } }

    var names: [String] { asked.withLock { $0 } }

    func keyMaterial(for keyName: String) async throws -> Data {
        asked.withLock { $0.append(keyName) }
        return try await answer(keyName)
    }
}
