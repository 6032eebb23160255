internal import CLocalData
internal import FoundationEssentials
internal import LocalDataAPI
internal import LocalDataHost

/// A cipher in pieces, as a C caller uses it. Ended by exactly one of ``seal()``, ``open(tag:)`` and ``cancel()``.
final class BoundaryStream {
    private let crypto: LoadedCrypto
    private let functions: ld_crypto_incremental
    private let pointer: UnsafeMutableRawPointer?
    private let tagSize: Int
    private(set) var isEnded = false

    /// - Throws: What the provider reports.
    init(_ crypto: LoadedCrypto, _ cipher: AuthenticatedCipher, seals: Bool, _ use: CipherUse) throws {
        let (observed, pointer) = try Self.begin(crypto, cipher.id, seals: seals, use)
        try observed.succeeded()
        self.crypto = crypto
        functions = try Self.functions(of: crypto)
        self.pointer = pointer
        tagSize = cipher.tagSize
    }

    deinit { cancel() }

    private static func functions(of crypto: LoadedCrypto) throws -> ld_crypto_incremental {
        guard let functions = crypto.incremental else {
            throw ConformanceFailure("the provider has no table for ciphers in pieces")
        }
        return functions
    }

    static func begin(
        _ crypto: LoadedCrypto, _ id: Int32, seals: Bool, _ use: CipherUse
    ) throws -> (Observation, UnsafeMutableRawPointer?) {
        let functions = try functions(of: crypto)
        var pointer: UnsafeMutableRawPointer?
        let observed = LentBytes.lend(use.key, use.nonce, use.data) { lent in
            Observation {
                functions.begin(
                    crypto.table.`self`, id, seals ? 1 : 0, lent[0], lent[1], lent[2], &pointer, $1)
            }
        }
        return (observed, pointer)
    }

    /// Begins a stream that must be refused, and ends it if the provider accepts it.
    static func refusal(
        _ crypto: LoadedCrypto, _ id: Int32, seals: Bool, _ use: CipherUse
    ) throws -> Observation {
        let (observed, pointer) = try begin(crypto, id, seals: seals, use)
        if observed.status == LD_OK { try functions(of: crypto).cancel(crypto.table.`self`, pointer) }
        return observed
    }

    func update(_ input: Data, into output: GuardedOutput) throws {
        try LentBytes.lend(input) { lent in
            Observation { functions.update(crypto.table.`self`, pointer, lent[0], output.pointer, $1) }
        }.succeeded()
    }

    func update(_ input: Data) throws -> Data {
        let output = GuardedOutput(input.count)
        try update(input, into: output)
        return output.data
    }

    func seal(into tag: GuardedOutput) throws {
        isEnded = true
        try Observation { functions.seal(crypto.table.`self`, pointer, tag.pointer, $1) }.succeeded()
    }

    func seal() throws -> Data {
        let tag = GuardedOutput(tagSize)
        try seal(into: tag)
        return tag.data
    }

    func open(tag: Data) -> Observation {
        isEnded = true
        return LentBytes.lend(tag) { lent in
            Observation { functions.open(crypto.table.`self`, pointer, lent[0], $1) }
        }
    }

    func cancel() {
        guard !isEnded else { return }
        isEnded = true
        functions.cancel(crypto.table.`self`, pointer)
    }
}
