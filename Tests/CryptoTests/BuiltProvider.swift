import Foundation
import LocalDataAPI
import LocalDataHost
import LocalDataTesting
import TestSupport
import Testing

/// A crypto plugin that was built with the tests, opened through the boundary as a host does.
enum BuiltProvider: String, CaseIterable, CustomTestStringConvertible {
    case openssl
    case sodium

    /// The plugin's file.
    var library: String { BuiltProducts.plugin(self == .openssl ? "OpenSSLCrypto" : "SodiumCrypto") }

    func open() throws -> LoadedCrypto {
        try PluginImage.load(library)
            .openCrypto(rawValue, options: [:], folder: "/nonexistent", log: SilentLog())
    }

    var testDescription: String { rawValue }
}

extension LoadedCrypto {
    /// The ciphers that it declares.
    var ciphers: [AuthenticatedCipher] { AuthenticatedCipher.all.filter(offers) }
}

extension Data {
    /// Bytes that differ from one another and from those of another seed, and are the same in each run.
    init(pattern seed: UInt64, count: Int) {
        self.init(SeededGenerator.bytes(count, seed: seed))
    }

    /// From hexadecimal digits.
    init(hex: String) {
        let digits = Array(hex)
        self.init(
            stride(from: 0, to: digits.count - 1, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) })
    }

    /// With one bit changed.
    func flipping(bit: Int) -> Data {
        var copy = self
        copy[copy.startIndex + bit / 8] ^= 1 << UInt8(bit % 8)
        return copy
    }
}
