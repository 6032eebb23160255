import LocalDataAPI
import LocalDataHost

/// Bytes that arrive in pieces, as from a pipe.
final class ByteSource {
    private var rest: Slice<UnsafeRawBufferPointer>
    private let pieceSize: Int

    init(_ bytes: UnsafeRawBufferPointer, pieceSize: Int) {
        rest = bytes[...]
        self.pieceSize = pieceSize
    }

    /// Like read(2): returns the number of bytes, 0 at the end.
    func read(into memory: UnsafeMutableRawBufferPointer) -> Int {
        let piece = rest.prefix(min(pieceSize, memory.count))
        memory.copyBytes(from: piece)
        rest = rest.dropFirst(piece.count)
        return piece.count
    }

    /// A read function for callers that take one.
    var source: SecretBuffer.Source {
        { (memory) throws(StorageError) in self.read(into: memory) }
    }
}
