import FoundationEssentials
import LocalDataAPI
import Synchronization
import TestSupport

@testable import HostSync
@testable import LocalDataHost

/// The groups from which schedules begin, one schedule after the other. All keys come from the schedule's seed.
final class ThiefBench: Sendable {
    private let source = RandomSource()
    /// Groups of two to five devices, which the first one has invited.
    let groups: [[TestDevice]]
    /// The same, where each has invited the next one.
    let chains: [[TestDevice]]

    init() throws {
        let crypto = try GroupCrypto(GroupProvider.sodium.provider()) { [source] in source.fill($0) }
        groups = try (2...5).map { try Self.group(of: $0, isChain: false, crypto) }
        chains = try (2...5).map { try Self.group(of: $0, isChain: true, crypto) }
    }

    private static func group(of count: Int, isChain: Bool, _ crypto: GroupCrypto) throws -> [TestDevice] {
        var devices = try makeGroup(of: (0..<count).map { "device \($0)" }, isChain: isChain, crypto)
        for _ in 0..<2 {
            for index in devices.indices { try devices[index].answer() }
            try exchange(&devices)
        }
        return devices
    }

    func begin(_ seed: UInt64) { source.generator.withLock { $0 = SeededGenerator(seed: seed) } }

    private final class RandomSource: Sendable {
        let generator = Mutex(SeededGenerator(seed: 0))

        func fill(_ memory: UnsafeMutableRawBufferPointer) {
            generator.withLock { random in
                for index in memory.indices { memory[index] = UInt8(truncatingIfNeeded: random.next()) }
            }
        }
    }
}
