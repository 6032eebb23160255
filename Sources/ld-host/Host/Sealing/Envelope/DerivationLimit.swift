package import HostGround
internal import HostPlugins
package import LocalDataAPI

/// The highest cost of a header's derivation at an address. A header is used before any of it is authentic. So its cost
/// is limited to four times what the configuration writes there, which keeps values of an earlier, costlier
/// configuration readable.
package struct DerivationLimit: Hashable, Sendable {
    /// Iterations of PBKDF2.
    private let iterations: UInt64
    /// Memory of Argon2id in KiB.
    private let memory: UInt64
    /// Passes of Argon2id times its memory in KiB.
    private let work: UInt64

    /// For addresses where only HKDF is written.
    package static let fastOnly = DerivationLimit(iterations: 0, memory: 0, work: 0)

    /// The limit for a style, at least that for the usual parameters.
    ///
    /// - Parameter iterations: The PBKDF2 iterations of the configuration.
    package init(_ style: KeyDerivation, iterations: UInt32 = 0) {
        var most = (iterations: max(UInt64(iterations), 600_000), memory: UInt64(64 << 10), work: UInt64(3 * 64 << 10))
        switch style {
        case .hkdf: break
        case .pbkdf2(let iterations, _): most.iterations = max(most.iterations, UInt64(iterations))
        case .argon2id(let passes, let memory):
            most.memory = max(most.memory, UInt64(memory))
            most.work = max(most.work, UInt64(passes) * UInt64(memory))
        }
        self.init(iterations: 4 * most.iterations, memory: 4 * most.memory, work: 4 * most.work)
    }

    private init(iterations: UInt64, memory: UInt64, work: UInt64) {
        self.iterations = iterations
        self.memory = memory
        self.work = work
    }

    /// A limit that allows what either of two allows.
    package func joined(with other: DerivationLimit) -> DerivationLimit {
        DerivationLimit(
            iterations: max(iterations, other.iterations), memory: max(memory, other.memory),
            work: max(work, other.work))
    }

    /// Throws `cannotOpen` if a header's derivation costs more.
    package func check(_ derivation: EnvelopeDerivation, at address: StorageAddress) throws(StorageError) {
        let (asked, most): (String, String)
        switch derivation {
        case .hkdf: return
        case .pbkdf2(let count, _):
            if UInt64(count) <= iterations { return }
            (asked, most) = ("\(count) iterations of \(derivation.function)", "\(iterations)")
        case .argon2id(let passes, let size, _):
            if UInt64(size) <= memory, UInt64(passes) * UInt64(size) <= work { return }
            (asked, most) = (
                "\(passes) passes of \(derivation.function) over \(size) KiB", "\(memory) KiB and \(work) in all"
            )
        }
        throw StorageError(
            .cannotOpen,
            "'\(address)' cannot be opened: its header asks for \(asked), but this host computes at most \(most); it "
                + "stays as it is",
            hint: self == .fastOnly
                ? "restore it from a backup, or remove it"
                : "only if you sealed it yourself: set encryption.iterations, or iterations and memory of the store's "
                    + "sealing, to a quarter of that or more")
    }
}
