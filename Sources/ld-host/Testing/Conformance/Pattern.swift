internal import FoundationEssentials

/// Values that show by themselves whether they are whole: each block of a value is different, and all derive from its
/// seed.
enum Pattern {
    /// The smallest size of a value that carries a seed.
    static let smallest = 16
    private static let block = 4096

    /// The value with a seed; it never ends in a line feed or a zero, which some stores strip.
    static func data(_ seed: UInt64, _ count: Int) -> Data {
        guard count > 0 else { return Data() }
        var words = [UInt64](repeating: 0, count: block / 8)
        var state = (seed &+ 1) &* 0x9e37_79b9_7f4a_7c15
        for index in words.indices {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            words[index] = state
        }
        var data = Data(count: count)
        data.withUnsafeMutableBytes { buffer in
            words.withUnsafeBytes { words in
                for start in stride(from: 0, to: count, by: block) {
                    let part = UnsafeMutableRawBufferPointer(rebasing: buffer[start..<min(start + block, count)])
                    part.copyMemory(from: UnsafeRawBufferPointer(rebasing: words[..<part.count]))
                    if part.count >= 8 {
                        part.storeBytes(of: start == 0 ? seed : seed &+ UInt64(start) &* 0x1_0001, as: UInt64.self)
                    }
                }
            }
            if count > 8 { buffer[count - 1] = 0x5a }
        }
        return data
    }

    /// The seed of a whole value; `nil` for anything else.
    static func seed(of data: Data) -> UInt64? {
        guard data.count >= smallest else { return nil }
        let seed = data.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
        return data == Self.data(seed, data.count) ? seed : nil
    }
}

extension Data {
    /// The bytes for a message: their number and the first of them. Only for values that a check created itself.
    var shown: String {
        let head = prefix(8).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: " ")
        return count == 0 ? "an empty value" : "\(count) bytes (\(head)\(count > 8 ? " ..." : ""))"
    }
}

extension Data? {
    /// The value for a message.
    var shown: String { map(\.shown) ?? "none" }
}
