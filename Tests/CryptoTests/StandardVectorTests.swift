import Foundation
import LocalDataAPI
import LocalDataHost
import LocalDataTesting
import TestSupport
import Testing

@Suite("The vectors of the standards") struct StandardVectorTests {
    private static let folder = "\(Repository.tests)/CryptoTests/Vectors"

    static let names: [String] = {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { $0.hasSuffix(".json") }.sorted()
    }()

    private static func content(of name: String) throws -> Data {
        try Data(contentsOf: URL(filePath: "\(folder)/\(name)"))
    }

    /// The algorithm and file of each set of vectors, and their number.
    static let expected: [(id: Int32, file: String, count: Int)] = [
        (1, "aes-256-gcm.json", 10), (2, "chacha20-poly1305.json", 7), (3, "xchacha20-poly1305.json", 6),
        (16, "hkdf-sha256.json", 4), (17, "pbkdf2-hmac-sha256.json", 3),
        (19, "hkdf-sha512.json", 4), (20, "pbkdf2-hmac-sha512.json", 6), (32, "x25519.json", 6),
        (33, "ed25519.json", 18),
    ]

    @Test("every vector of every declared algorithm gives its result", arguments: BuiltProvider.allCases)
    func vectors(_ provider: BuiltProvider) throws {
        let crypto = try provider.open()
        var left = Set(crypto.algorithms.keys)
        for (id, file, count) in Self.expected {
            let report = try VectorRun(crypto).run(VectorFile(Self.content(of: file), name: file))
            #expect(report.failures.isEmpty, "\(report.failures)")
            #expect(report.passed == (left.remove(id) == nil ? 0 : count), "\(file)")
        }
        // There are no such files for Argon2id, which has a separate suite.
        #expect(left.subtracting([KeyDerivationFunction.argon2id.rawValue]).isEmpty)
    }

    @Test("there are files for all of them") func files() { #expect(Self.names == Self.expected.map(\.file).sorted()) }

    @Test(
        "a vector with one digit changed fails", arguments: BuiltProvider.allCases,
        [
            ("aes-256-gcm.json", "530f8afb", "530f8afc"), ("aes-256-gcm.json", "cea7403d", "cea7403c"),
            ("chacha20-poly1305.json", "\"msg\": \"4c61", "\"msg\": \"4c62"),
            ("hkdf-sha256.json", "3cb25f25", "3cb25f26"), ("pbkdf2-hmac-sha256.json", "55ac046e", "55ac046f"),
            ("hkdf-sha512.json", "83239008", "83239009"), ("pbkdf2-hmac-sha512.json", "867f70cf", "867f70ce"),
            ("x25519.json", "c3da5537", "c3da5538"), ("ed25519.json", "e5564300", "e5564301"),
            ("chacha20-poly1305.json", "\"result\": \"invalid\"", "\"result\": \"valid\""),
            ("hkdf-sha256.json", "\"result\": \"invalid\"", "\"result\": \"valid\""),
            ("x25519.json", "\"result\": \"invalid\"", "\"result\": \"valid\""),
            ("ed25519.json", "\"result\": \"invalid\"", "\"result\": \"valid\""),
            ("aes-256-gcm.json", "\"result\": \"valid\"", "\"result\": \"invalid\""),
            ("hkdf-sha256.json", "\"result\": \"valid\"", "\"result\": \"invalid\""),
            ("x25519.json", "\"result\": \"valid\"", "\"result\": \"invalid\""),
            ("ed25519.json", "\"result\": \"valid\"", "\"result\": \"invalid\""),
        ])
    func changed(_ provider: BuiltProvider, _ change: (file: String, from: String, to: String)) throws {
        let text = String(decoding: try Self.content(of: change.file), as: UTF8.self)
        try #require(text.contains(change.from))
        let file = try VectorFile(
            Data(text.replacingOccurrences(of: change.from, with: change.to).utf8), name: change.file)
        let report = try VectorRun(provider.open()).run(file)
        #expect(report.failed > 0)
    }
}
