internal import HostGround
internal import LocalDataAPI
internal import Synchronization

/// The bytes of a value that a write takes. If another store serves the value once they were taken, they are given from
/// the first one on again.
final class GivenBytes: Sendable {
    /// Writes the next bytes into memory and returns their number, 0 at the end.
    typealias Source = @Sendable (UnsafeMutableRawBufferPointer) throws -> Int

    private struct State {
        /// What can be given again.
        var kept: SecretSlice
        let buffer: SecretBuffer
        /// The number of bytes that were given.
        var given = 0
        var isAtEnd: Bool

        mutating func keep(_ piece: UnsafeRawBufferPointer) {
            buffer.append(piece)
            kept = buffer.slice
        }
    }

    private let source: Source
    private let state: Mutex<State>

    /// Bytes that can be taken once.
    init(from source: @escaping Source) {
        self.source = source
        let buffer = SecretBuffer()
        state = Mutex(State(kept: buffer.slice, buffer: buffer, isAtEnd: false))
    }

    init(_ value: SecretSlice) {
        source = { _ in 0 }
        state = Mutex(State(kept: value, buffer: SecretBuffer(), isAtEnd: true))
    }

    /// Begins with the first byte again.
    ///
    /// - Throws: What `error` says as ``StorageError/Code/busy`` if bytes were taken and not kept.
    func rewind(after error: StorageError) throws(StorageError) {
        try state.withLock { state throws(StorageError) in
            guard state.given <= state.kept.count else { throw StorageError(.busy, error.message, hint: error.hint) }
            state.given = 0
        }
    }

    /// - Parameter isKept: Whether the bytes are kept, as the store takes all of them before it changes anything.
    func read(into memory: UnsafeMutableRawBufferPointer, keeping isKept: Bool) throws -> Int {
        try state.withLock { state in
            let kept = state.kept
            let again = kept.dropFirst(state.given).prefix(memory.count)
            guard again.isEmpty else {
                again.copy(to: memory)
                state.given += again.count
                return again.count
            }
            guard !state.isAtEnd else { return 0 }
            let count = try source(memory)
            state.isAtEnd = count == 0
            // A number that is no count is the store's to refuse.
            guard (0...memory.count).contains(count) else { return count }
            if isKept, state.given == kept.count { state.keep(UnsafeRawBufferPointer(rebasing: memory[..<count])) }
            state.given += count
            return count
        }
    }
}
