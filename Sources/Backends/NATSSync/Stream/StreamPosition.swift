internal import FoundationEssentials
internal import LocalDataPluginAPI

/// A position in a stream: `CREATED/GENERATION/SEQUENCE/TIME`.
///
/// The time of its creation tells a stream from one that was set up again under its name. The generation is the
/// sequence of a message that a device publishes when it notices that the stream has lost its end, as it may when a
/// server that syncs late loses power; 0 if that has not happened. Positions of another generation are lost, so that
/// each device fetches from the beginning, and publishes again what is missing. The time is that of the message at the
/// sequence: another message there shows that loss, too, once the stream has grown beyond the position again.
struct StreamPosition {
    let created: String
    let generation: UInt64
    private(set) var sequence: UInt64
    /// When the server stored the message at ``sequence``, in nanoseconds since 1970 UTC; 0 if that is not known.
    private(set) var time: UInt64 = 0

    init(created: String, generation: UInt64, sequence: UInt64) {
        (self.created, self.generation, self.sequence) = (created, generation, sequence)
    }

    /// Reads a position; `nil` if it is none.
    init?(_ data: Data) {
        let parts = String(decoding: data, as: UTF8.self).split(separator: "/", omittingEmptySubsequences: false)
        // Earlier versions had no time.
        guard parts.count == 3 || parts.count == 4, let generation = UInt64(parts[1]), let sequence = UInt64(parts[2]),
            let time = parts.count == 3 ? 0 : UInt64(parts[3])
        else { return nil }
        self.init(created: String(parts[0]), generation: generation, sequence: sequence)
        self.time = time
    }

    var data: Data { Data("\(created)/\(generation)/\(sequence)/\(time)".utf8) }

    /// Moves on to a message.
    mutating func pass(_ place: MessagePlace) { (sequence, time) = (place.sequence, place.time) }

    /// Moves on to a sequence at which there may be no message.
    mutating func pass(_ last: UInt64) { if last > sequence { (sequence, time) = (last, 0) } }
}
