package import LocalDataAPI
internal import Synchronization

/// Access to values in memory that is cleared afterwards.
extension StorageRouter {
    /// The value, or `nil` if there is none.
    ///
    /// - Throws: `valueTooLarge` if it has more than `limit` bytes; why the value cannot be read.
    package func secret(for key: AnyStorageKey, limit: Int = .max) async throws -> SecretBuffer? {
        let buffer = SecretBuffer()
        let isTooLarge = Atomic(false)
        // If a later chunk does not open, the call throws and nobody sees the earlier ones.
        let found = try await readPieces(for: key, verifying: .chunks) { piece in
            guard buffer.count + piece.count <= limit else {
                isTooLarge.store(true, ordering: .relaxed)
                return false
            }
            buffer.append(piece)
            return true
        }
        guard !isTooLarge.load(ordering: .relaxed) else {
            throw StorageError(
                .valueTooLarge,
                "'\(key.descriptor.domain)/\(key.descriptor.name)' has more than \(limit) bytes, the most that "
                    + "can be read here",
                hint: "read it in pieces: ld-host get")
        }
        return found ? buffer : nil
    }

    /// Stores a value, replacing the old one.
    package func setSecret(_ value: SecretSlice, for key: AnyStorageKey) async throws {
        let given = Atomic(value.startIndex)
        try await writePieces(for: key) { memory in
            let start = given.load(ordering: .relaxed)
            let piece = value[start..<min(value.endIndex, start + memory.count)]
            piece.copy(to: memory)
            given.store(piece.endIndex, ordering: .relaxed)
            return piece.count
        }
    }
}
