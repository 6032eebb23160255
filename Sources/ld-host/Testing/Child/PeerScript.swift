/// The steps that another process executes on a store, in order.
struct PeerScript: Codable, Sendable {
    let folder: String
    let domain: String
    let scope: String
    let steps: [PeerStep]
}

/// One step of another process. Values are those of ``Pattern``, by seed and size.
enum PeerStep: Codable, Sendable {
    case set(name: String, seed: UInt64, size: Int)
    case remove(name: String)
    /// Answers `none`, `seed N`, or `damaged`.
    case read(name: String)
    /// Stores different values under one name, repeatedly.
    case replace(name: String, size: Int, times: Int)
    /// Stores values under `prefix0`, `prefix1` and so on, with the numbers as seeds.
    case fill(prefix: String, size: Int, count: Int)
    /// Ends the process at once, as a crash does.
    case die
}
