import FoundationEssentials
import LocalDataAPI
import TestSupport
import Testing

@testable import HostPlugins
@testable import HostSealing
@testable import LocalDataHost

/// The crypto providers that are built with these tests.
enum Provider: String, CaseIterable, Sendable {
    case openssl = "OpenSSLCrypto"
    case sodium = "SodiumCrypto"

    /// The provider, opened once through its library.
    var crypto: LoadedCrypto {
        get throws { try #require(Self.opened[self], "lib\(rawValue).so does not open") }
    }

    private static let opened: [Provider: LoadedCrypto] = {
        var opened: [Provider: LoadedCrypto] = [:]
        for provider in allCases {
            let image = try? PluginImage.load(BuiltProducts.plugin(provider.rawValue))
            opened[provider] = try? image?.openCrypto(
                "\(provider)", options: ResolvedOptions(), host: HostTable.shared(for: SilentLog()))
        }
        return opened
    }()
}

/// A provider with one of its ciphers, which most of these tests use.
struct TestedCipher: CustomTestStringConvertible, Sendable {
    let provider: Provider
    let cipher: AuthenticatedCipher

    /// Every provider with every cipher that it offers here.
    static let all: [TestedCipher] = Provider.allCases.flatMap { provider in
        let ciphers = AuthenticatedCipher.all.filter { (try? provider.crypto)?.offers($0) == true }
        return ciphers.map { TestedCipher(provider: provider, cipher: $0) }
    }

    var testDescription: String { "\(provider), \(cipher)" }

    /// Seals and opens for an address.
    func envelope(_ address: StorageAddress = .token) throws -> Envelope {
        Envelope(address, crypto: try provider.crypto)
    }

    /// Chunks of 1 KiB, so that a small value has many.
    var smallChunks: EnvelopeStyle { EnvelopeStyle(cipher, chunkExponent: 10) }
}

@Suite("The tested providers")
struct ProviderTests {
    @Test("both are there, with the ciphers that every machine has")
    func everyProvider() {
        let found = Set(TestedCipher.all.map(\.testDescription))
        let expected: Set = [
            "openssl, AES-256-GCM", "openssl, ChaCha20-Poly1305", "sodium, ChaCha20-Poly1305",
            "sodium, XChaCha20-Poly1305",
        ]
        #expect(found.isSuperset(of: expected))
    }
}
