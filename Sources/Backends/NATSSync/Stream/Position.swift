internal import FoundationEssentials
internal import LocalDataAPI

/// A position in a stream: `CREATED/GENERATION/SEQUENCE`.
///
/// The time of its creation tells a stream from one that was set up again under its name. The generation is the
/// sequence of a message that a device publishes when it notices that the stream has lost its end, as it may when a
/// server that syncs late loses power; 0 if that has not happened. Positions of another generation are lost, so that
/// each device fetches from the beginning, and publishes again what is missing.
struct Position {
    let created: String
    let generation: UInt64
    var sequence: UInt64

    init(created: String, generation: UInt64, sequence: UInt64) {
        (self.created, self.generation, self.sequence) = (created, generation, sequence)
    }

    /// Reads a position; `nil` if it is none.
    init?(_ data: Data) {
        let parts = String(decoding: data, as: UTF8.self).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3, let generation = UInt64(parts[1]), let sequence = UInt64(parts[2]) else { return nil }
        self.init(created: String(parts[0]), generation: generation, sequence: sequence)
    }

    var data: Data { Data("\(created)/\(generation)/\(sequence)".utf8) }
}
