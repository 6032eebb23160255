internal import CLocalData
internal import FoundationEssentials
internal import HostPlugins
internal import LocalDataAPI

extension LoadedStore {
    /// Writes a value in these pieces.
    ///
    /// - Parameter before: Called with the number of each piece before it, and before the end; `false` gives up.
    /// - Returns: The component's status.
    func write(
        _ handle: StoreHandle, pieces: [Data], attributes: ValueAttributes? = nil,
        before: @escaping (Int) throws -> Bool = { _ in true }
    ) throws -> Int32 {
        guard let streaming = abilities.streaming else { throw StorageError(.unsupported, "the store has no streams") }
        let source = SourceOfPieces(pieces: pieces, before: before)
        let lent = LentAttributes(attributes)
        defer { lent.free() }
        let observed = withExtendedLifetime(source) {
            Observation { _, error in
                var table = ld_source(
                    size: UInt32(MemoryLayout<ld_source>.size), context: Unmanaged.passUnretained(source).toOpaque(),
                    read: nextPiece)
                return streaming.write(self.table.`self`, handle.pointer, &table, lent.pointer, error)
            }
        }
        if let failure = source.failure { throw failure }
        return try observed.succeeded()
    }

    /// Reads a value in pieces, as the component passes them.
    func observeRead(
        _ handle: StoreHandle, taking take: @escaping (Data) throws -> Bool = { _ in true }
    ) throws -> Observation {
        guard let streaming = abilities.streaming else { throw StorageError(.unsupported, "the store has no streams") }
        return Observation(taking: take) { streaming.read(table.`self`, handle.pointer, $0, $1) }
    }
}

private final class SourceOfPieces {
    private let pieces: [Data]
    private let before: (Int) throws -> Bool
    private var index = 0
    private var rest = Data()
    private(set) var failure: (any Error)?

    init(pieces: [Data], before: @escaping (Int) throws -> Bool) {
        self.pieces = pieces
        self.before = before
    }

    func fill(_ buffer: UnsafeMutableRawBufferPointer) -> Int64 {
        do {
            if rest.isEmpty {
                guard try before(index) else { return -1 }
                guard index < pieces.count else { return 0 }
                rest = pieces[index]
                index += 1
            }
        } catch {
            failure = failure ?? error
            return -1
        }
        let part = rest.prefix(buffer.count)
        buffer.copyBytes(from: part)
        rest = Data(rest.dropFirst(part.count))
        return Int64(part.count)
    }
}

private func nextPiece(context: UnsafeMutableRawPointer?, buffer: UnsafeMutableRawPointer?, capacity: Int) -> Int64 {
    guard let context, let buffer else { return -1 }
    return Unmanaged<SourceOfPieces>.fromOpaque(context).takeUnretainedValue().fill(
        UnsafeMutableRawBufferPointer(start: buffer, count: capacity))
}
