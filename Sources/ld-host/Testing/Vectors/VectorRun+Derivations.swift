internal import FoundationEssentials
internal import LocalDataAPI
internal import LocalDataHost

extension VectorRun {
    /// Vectors with more output bytes or iterations than this take too long for a test.
    private static let largestOutput = 1 << 24
    private static let mostIterations = 10_000_000

    /// A vector of `HkdfTest`.
    func extraction(_ vector: VectorFile.Vector, of algorithm: String) throws(StorageError) -> VectorOutcome {
        guard let function = Self.extractions[algorithm] else { return .skipped("the algorithm \(algorithm)") }
        let (secret, salt) = (try vector.fields.bytes("ikm"), try vector.fields.bytes("salt"))
        let (info, count) = (try vector.fields.bytes("info"), try vector.fields.count("size"))
        let expected = try vector.fields.bytes("okm")
        if let reason = skipping(function, count: count) { return .skipped(reason) }
        return .judging(vector.expectation, against: expected, named: "the output") { () throws(StorageError) in
            try crypto.derive(function, from: secret, salt: salt, info: info, count: count)
        }
    }

    /// A vector of `PbkdfTest`.
    func password(_ vector: VectorFile.Vector, of algorithm: String) throws(StorageError) -> VectorOutcome {
        guard let function = Self.passwords[algorithm] else { return .skipped("the algorithm \(algorithm)") }
        let (password, salt) = (try vector.fields.bytes("password"), try vector.fields.bytes("salt"))
        let (count, iterations) = (try vector.fields.count("dkLen"), try vector.fields.count("iterationCount"))
        let expected = try vector.fields.bytes("dk")
        if let reason = skipping(function, count: count) { return .skipped(reason) }
        guard iterations <= Self.mostIterations else { return .skipped("more than \(Self.mostIterations) iterations") }
        return .judging(vector.expectation, against: expected, named: "the output") { () throws(StorageError) in
            try crypto.derive(
                function, from: password, salt: salt, iterations: UInt64(iterations), count: count)
        }
    }

    private static let extractions: [String: KeyDerivationFunction] = [
        "HKDF-SHA-256": .hkdfSHA256, "HKDF-SHA-512": .hkdfSHA512,
    ]
    private static let passwords: [String: KeyDerivationFunction] = [
        "PBKDF2-HMACSHA256": .pbkdf2HMACSHA256, "PBKDF2-HMACSHA512": .pbkdf2HMACSHA512,
    ]

    private func skipping(_ function: KeyDerivationFunction, count: Int) -> String? {
        guard crypto.offers(function) else { return "\(function), which the provider does not declare" }
        return count <= Self.largestOutput ? nil : "outputs of more than \(Self.largestOutput) bytes"
    }
}
