package import LocalDataAPI

/// Bytes that grow, in memory that is cleared when it is given back or outgrown: for what is read or put together of
/// secrets. One task at a time uses it.
package final class SecretBuffer: @unchecked Sendable {
    /// Reads into memory, like read(2): how many bytes came, 0 at the end.
    package typealias Source = (UnsafeMutableRawBufferPointer) throws(StorageError) -> Int

    private var memory: UnsafeMutableRawBufferPointer
    /// How many bytes it has.
    package private(set) var count = 0

    /// An empty one.
    package init() { memory = .allocate(byteCount: 512, alignment: 16) }

    deinit {
        clear(memory)
        memory.deallocate()
    }

    /// Lends the bytes. Nothing may be appended meanwhile.
    package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        withExtendedLifetime(self) { body(UnsafeRawBufferPointer(rebasing: memory[..<count])) }
    }

    /// All of it, as it is now.
    package var slice: SecretSlice { SecretSlice(self, 0..<count) }

    package subscript(index: Int) -> UInt8 {
        precondition(index >= 0 && index < count)
        return memory[index]
    }

    /// Appends bytes.
    package func append(_ piece: UnsafeRawBufferPointer) {
        reserve(piece.count)
        MemorySecrecy.copy(piece, to: UnsafeMutableRawBufferPointer(rebasing: memory[count...]))
        count += piece.count
    }

    /// Appends bytes; those of a ``SecretSlice`` of this buffer too.
    package func append(contentsOf bytes: some Collection<UInt8>) {
        reserve(bytes.count)
        for byte in bytes {
            memory[count] = byte
            count += 1
        }
    }

    /// Appends text as UTF-8.
    package func append(_ text: String) { append(contentsOf: text.utf8) }

    /// Reads once and appends what comes, at most `limit` bytes.
    ///
    /// - Returns: How many bytes came; 0 at the end.
    package func append(upTo limit: Int, from source: Source) throws(StorageError) -> Int {
        reserve(limit)
        let read = try source(UnsafeMutableRawBufferPointer(rebasing: memory[count..<(count + limit)]))
        count += read
        return read
    }

    private func reserve(_ more: Int) {
        guard count + more > memory.count else { return }
        let larger = UnsafeMutableRawBufferPointer.allocate(
            byteCount: max(count + more, 2 * memory.count), alignment: 16)
        withBytes { MemorySecrecy.copy($0, to: larger) }
        clear(memory)
        memory.deallocate()
        memory = larger
    }
}
