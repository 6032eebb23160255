import Foundation
import LocalDataPluginAPI
import LocalDataTesting
import Testing

@testable import SwiftCrypto

@Suite("SwiftCrypto")
struct SwiftCryptoTests {
    private let provider: SwiftCrypto

    init() throws {
        provider = try SwiftCrypto(
            options: ComponentOptions([:]), host: HostServices(name: "test", version: "1"))
    }

    @Test("opens what it sealed, and nothing with other data")
    func opensWhatItSealed() throws {
        let (key, nonce) = (Data(repeating: 7, count: 32), Data(repeating: 9, count: 12))
        let message = Data("hello, world".utf8)
        var (sealed, tag) = (Data(count: message.count), Data(count: 16))
        var sealedBytes = sealed.mutableBytes
        var tagBytes = tag.mutableBytes
        provider.seal(
            message.bytes, with: .chaCha20Poly1305, key: key.bytes, nonce: nonce.bytes,
            authenticating: Data("for Ada".utf8).bytes, ciphertext: &sealedBytes, tag: &tagBytes)
        #expect(sealed != message)
        #expect(try open(sealed, tag, key, nonce, "for Ada") == message)
        #expect(throws: StorageError.cannotOpen) { try open(sealed, tag, key, nonce, "for Bob") }
    }

    @Test("derives the key of RFC 5869's third test case")
    func derives() {
        let secret = Data(repeating: 0x0b, count: 22)
        var key = Data(count: 42)
        var bytes = key.mutableBytes
        provider.deriveKey(from: secret.bytes, salt: Data().bytes, info: Data().bytes, into: &bytes)
        #expect(key.prefix(8) == Data([0x8d, 0xa4, 0xe7, 0x75, 0xa5, 0x63, 0xc1, 0x8f]))
        #expect(key.suffix(2) == Data([0x96, 0xc8]))
    }

    @Test("keeps every promise of a crypto provider")
    func conforms() async throws {
        let report = try await CryptoConformance.run(SwiftCrypto.self)
        #expect(report.failures.isEmpty, "\(report)")
    }

    private func open(
        _ sealed: Data, _ tag: Data, _ key: Data, _ nonce: Data, _ data: String
    ) throws -> Data {
        var message = Data(count: sealed.count)
        var bytes = message.mutableBytes
        try provider.open(
            sealed.bytes, tag: tag.bytes, with: .chaCha20Poly1305, key: key.bytes, nonce: nonce.bytes,
            authenticating: Data(data.utf8).bytes, plaintext: &bytes)
        return message
    }
}
