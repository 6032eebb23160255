internal import Glibc

/// The most memory that this process has had at once, as the system counts it (`VmHWM` of proc(5)).
enum PeakMemory {
    /// Restarts counting at the current value.
    static func begin() -> Int {
        if let file = fopen("/proc/self/clear_refs", "we") {
            fputs("5", file)
            fclose(file)
        }
        return end()
    }

    /// Bytes, since the count began.
    static func end() -> Int {
        guard let file = fopen("/proc/self/status", "re") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, Int32(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            guard text.hasPrefix("VmHWM:") else { continue }
            return (text.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
        }
        return 0
    }
}
