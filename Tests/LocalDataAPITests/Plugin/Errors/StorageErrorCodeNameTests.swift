import LocalDataAPI
import Testing

@Suite("Names of error codes")
struct StorageErrorCodeNameTests {
    /// Every code that has its own sentence.
    private static let known = (0...1000).map { StorageError.Code(rawValue: $0) }
        .filter { $0.summary != "error \($0.rawValue)" }

    @Test("every code has one of its own")
    func names() {
        #expect(Self.known.count >= 32)
        #expect(Self.known.allSatisfy { $0.name != "code\($0.rawValue)" })
        #expect(Set(Self.known.map(\.name)).count == Self.known.count)
        #expect(StorageError.Code.cannotOpen.name == "cannotOpen")
        #expect(StorageError.Code(rawValue: 999).name == "code999")
    }
}
