internal import FoundationEssentials
internal import Glibc

/// The number of calls of this process that the fault injector has counted.
enum CallCount {
    /// 0 without a counter.
    static var now: Int {
        guard let path = getenv("LD_FAULT_COUNT"),
            let bytes = FileManager.default.contents(atPath: String(cString: path)), bytes.count >= 8
        else { return 0 }
        return bytes.prefix(8).reversed().reduce(0) { $0 << 8 | Int($1) }
    }
}
