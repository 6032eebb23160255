internal import FoundationEssentials
internal import HostPlugins
internal import LocalDataAPI
internal import Synchronization

extension ConformanceCheck {
    static let cryptoRandom: [ConformanceCheck] = [
        ConformanceCheck(crypto: "random.fills", "every requested byte is random") { provider in
            for size in [1, 2, 7, 15, 16, 17, 31, 32, 33, 64, 100, 255, 256, 257, 511, 513, 1000, 4096, 4097, 65_537] {
                // A byte that stays zero in ten draws was not drawn, except with a probability of 2^-80.
                var isDrawn = [UInt8](repeating: 0, count: size)
                for _ in 0..<10 {
                    let bytes = [UInt8](try provider.random(size))
                    for index in stride(from: 0, to: size, by: size > 5000 ? 61 : 1) { isDrawn[index] |= bytes[index] }
                }
                let missed = stride(from: 0, to: size, by: size > 5000 ? 61 : 1).first { isDrawn[$0] == 0 }
                try expect(
                    missed == nil, "of \(size) random bytes, byte \(missed ?? 0) is never drawn")
            }
        },
        ConformanceCheck(crypto: "random.differs", "no two calls give the same random bytes, on any thread") {
            provider in
            let drawn = Mutex<Set<Data>>([])
            try Worker.run(8) { _ in
                for _ in 0..<50 {
                    let bytes = try provider.random(16)
                    try expect(drawn.withLock { $0.insert(bytes).inserted }, "two calls drew the same 16 bytes")
                }
            }
            let other = try provider.another()
            defer { other.end() }
            let bytes = try other.random(16)
            try expect(
                drawn.withLock { $0.insert(bytes).inserted }, "a provider that was opened again drew the same 16 bytes")
        },
        ConformanceCheck(crypto: "random.even", "in a million bytes, each bit is set about half of the time") {
            provider in
            let count = 1 << 20
            let bytes = try provider.random(count)
            let words = bytes.withUnsafeBytes { Array($0.bindMemory(to: UInt64.self)) }
            for bit in 0..<8 {
                let mask = UInt64(0x0101_0101_0101_0101) << UInt64(bit)
                let set = words.reduce(0) { $0 + ($1 & mask).nonzeroBitCount }
                // Eight standard deviations; one is half the square root of the count.
                try expect(
                    abs(set - count / 2) < 8 * 512, "bit \(bit) is set in \(set) of \(count) random bytes")
            }
        },
        ConformanceCheck(
            crypto: "random.fork", "a process and its fork get different random bytes", if: .ownProcess
        ) { provider in
            _ = try provider.random(100)
            for size in [24, 32, 64] {
                let copy = try provider.crypto.drawInCopy(size)
                let own = try provider.random(size)
                try expect(own != copy, "a process and its fork drew the same \(size) bytes")
                try expect(
                    try provider.crypto.drawInCopy(size) != copy, "two forks drew the same \(size) bytes")
            }
        },
    ]
}
