internal import HostPlugins
internal import LocalDataAPI

/// How much is moved at once, and how often a move is tried again that others disturb. A larger step waits for the disk
/// less often; a smaller one takes less memory, and lets in sooner who waits for his turn.
package enum MoveLimits {
    /// The largest value in bytes that is moved as a whole; larger ones are moved in pieces, one by one.
    package static let whole: UInt64 = 1 << 20

    /// The most bytes of all values of a step but the last.
    package static let bytes = 4 << 20

    /// The most values of a step between two stores: as many as take some tenths of a second.
    ///
    /// - Parameter isSealed: Whether they are opened or sealed on their way, which takes time.
    package static func values(_ source: OpenStore, _ destination: OpenStore, isSealed: Bool) -> Int {
        let isQuick = [source, destination].allSatisfy { [.memory, .disk].contains($0.store.properties.latency) }
        return !isQuick ? 256 : isSealed ? 1024 : 4096
    }

    /// The most changes of a batch that are staged, or put in place, at once: those of a step, with what is kept to
    /// undo it.
    package static let staged = 8192

    /// How often a value is tried that others change meanwhile.
    package static let attempts = 3

    /// How often a value is read that is changed each time between two looks at it.
    package static let readings = 16
}
