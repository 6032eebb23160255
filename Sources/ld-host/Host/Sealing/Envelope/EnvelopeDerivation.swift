package import FoundationEssentials
internal import HostGround
package import LocalDataAPI
internal import Synchronization

/// How an envelope's key is derived from the material, as in its header.
package enum EnvelopeDerivation: Hashable, Sendable {
    /// HKDF-SHA256 of the material. Salt and info belong to the key and supplement the record's salt.
    case hkdf(salt: Data? = nil, info: Data? = nil)
    /// PBKDF2-HMAC-SHA256 of the material, then HKDF.
    case pbkdf2(iterations: UInt32, salt: Data)
    /// Argon2id of the material with one lane, then HKDF. `memory` in KiB, `salt` of 16 bytes.
    case argon2id(passes: UInt32, memory: UInt32, salt: Data)

    /// The function that is applied to the material.
    package var function: KeyDerivationFunction {
        switch self {
        case .hkdf: .hkdfSHA256
        case .pbkdf2: .pbkdf2HMACSHA256
        case .argon2id: .argon2id
        }
    }

    /// Whether it may take long.
    package var isSlow: Bool { function.isSlow }

    package var iterations: UInt32 {
        switch self {
        case .hkdf: 0
        case .pbkdf2(let iterations, _): iterations
        case .argon2id(let passes, _, _): passes
        }
    }

    var salt: Data? {
        switch self {
        case .hkdf(let salt, _): salt
        case .pbkdf2(_, let salt), .argon2id(_, _, let salt): salt
        }
    }

    var info: Data? {
        guard case .hkdf(_, let info) = self else { return nil }
        return info
    }

    var memory: UInt32? {
        guard case .argon2id(_, let memory, _) = self else { return nil }
        return memory
    }

    /// What is wrong with the parameters according to the specification; `nil` if they are valid.
    ///
    /// A header's parameters are used before any of it is authentic: a hostile header must not occupy the processor or
    /// the memory for long. The same limits apply to sealing, so that everything that is sealed can be opened.
    var fault: String? {
        switch self {
        case .hkdf: nil
        case .pbkdf2(let iterations, _):
            (1...Self.mostIterations).contains(iterations)
                ? nil : "\(iterations) iterations of \(function); expected 1 to \(Self.mostIterations)"
        case .argon2id(let passes, let memory, let salt):
            if salt.count != Self.argon2SaltSize {
                "a salt of \(salt.count) bytes for \(function); expected \(Self.argon2SaltSize)"
            } else if !(Self.leastMemory...Self.mostMemory).contains(memory) {
                "\(memory) KiB of memory for \(function); expected \(Self.leastMemory) to \(Self.mostMemory)"
            } else if passes == 0 || UInt64(passes) * UInt64(memory) > Self.mostWork {
                "\(passes) passes of \(function) over \(memory) KiB; expected 1 to \(Self.mostWork / UInt64(memory))"
            } else {
                nil
            }
        }
    }

    /// Most iterations of PBKDF2: 16 times the 600,000 that OWASP recommends; about 4 s.
    package static let mostIterations: UInt32 = 10_000_000
    /// Least and most memory of Argon2id in KiB: its own minimum for one lane, and 1 GiB, libsodium's "sensitive".
    static let leastMemory: UInt32 = 8
    static let mostMemory: UInt32 = 1 << 20
    /// Passes of Argon2id times its memory in KiB: 4 passes over 1 GiB, also libsodium's "sensitive"; about 4 s.
    static let mostWork: UInt64 = 4 << 20
    /// The salt size of Argon2id in bytes, the only one that libsodium accepts.
    static let argon2SaltSize = 16
}

/// Limits headers that demand slow derivations: one derivation at a time in a process, and none again for bytes that
/// did not open.
enum SlowDerivations {
    private static let turn = Mutex<Void>(())
    private static let refused = Mutex<[Int]>([])
    private static let most = 256

    /// Runs one derivation while no other thread runs one. May wait.
    static func alone<Failure: Error>(_ derive: () throws(Failure) -> Void) throws(Failure) {
        try turn.withLock { (_) throws(Failure) in try derive() }
    }

    /// A mark for sealed bytes at an address under a key. Nobody can construct other bytes with the same mark, since
    /// the hash has a random seed in each process.
    static func mark(_ sealed: UnsafeRawBufferPointer, _ context: Data, _ key: EnvelopeKey) -> Int {
        var hasher = Hasher()
        hasher.combine(bytes: sealed)
        hasher.combine(context)
        key.material.withBytes { hasher.combine(bytes: $0) }
        return hasher.finalize()
    }

    /// Whether the bytes with this mark were refused before.
    static func isRefused(_ mark: Int) -> Bool { refused.withLock { $0.contains(mark) } }

    /// Records that the bytes with this mark do not open.
    static func refuse(_ mark: Int) {
        refused.withLock { marks in
            guard !marks.contains(mark) else { return }
            if marks.count == most { marks.removeFirst() }
            marks.append(mark)
        }
    }
}
