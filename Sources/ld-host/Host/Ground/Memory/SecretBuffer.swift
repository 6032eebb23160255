package import LocalDataAPI

/// A growing buffer for secrets; its memory is cleared when it is freed or outgrown. Used by one task at a time.
package final class SecretBuffer: @unchecked Sendable {
    /// Reads into memory, like read(2): returns the number of bytes, 0 at the end.
    package typealias Source = (UnsafeMutableRawBufferPointer) throws(StorageError) -> Int

    private var memory: UnsafeMutableRawBufferPointer
    /// The number of bytes.
    package private(set) var count = 0

    /// An empty buffer.
    package init() { memory = .allocate(byteCount: 512, alignment: 16) }

    deinit {
        clear(memory)
        memory.deallocate()
    }

    /// Lends the bytes. Nothing may be appended meanwhile.
    package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        withExtendedLifetime(self) { body(UnsafeRawBufferPointer(rebasing: memory[..<count])) }
    }

    /// The whole buffer as it is now.
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

    /// Appends bytes, even those of a ``SecretSlice`` of this buffer.
    package func append(contentsOf bytes: some Collection<UInt8>) {
        reserve(bytes.count)
        for byte in bytes {
            memory[count] = byte
            count += 1
        }
    }

    /// Appends text as UTF-8.
    package func append(_ text: String) { append(contentsOf: text.utf8) }

    /// Reads once and appends at most `limit` bytes.
    ///
    /// - Returns: The number of bytes; 0 at the end.
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

/// A part of a ``SecretBuffer``: a collection of its bytes that does not copy them. Two slices are equal if their bytes
/// are.
package struct SecretSlice: RandomAccessCollection, Sendable {
    package let startIndex: Int
    package let endIndex: Int
    private let buffer: SecretBuffer

    init(_ buffer: SecretBuffer, _ range: Range<Int>) {
        self.buffer = buffer
        startIndex = range.lowerBound
        endIndex = range.upperBound
    }

    package subscript(index: Int) -> UInt8 { buffer[index] }

    package subscript(range: Range<Int>) -> SecretSlice {
        precondition(range.lowerBound >= startIndex && range.upperBound <= endIndex)
        return SecretSlice(buffer, range)
    }

    /// Copies the bytes to memory that has room for them.
    package func copy(to memory: UnsafeMutableRawBufferPointer) {
        buffer.withBytes { MemorySecrecy.copy(UnsafeRawBufferPointer(rebasing: $0[startIndex..<endIndex]), to: memory) }
    }

    /// Whether the bytes are text, as far as that is visible without copying them.
    package var isUTF8: Bool {
        var decoder = UTF8()
        var bytes = makeIterator()
        while true {
            switch decoder.decode(&bytes) {
            case .scalarValue: continue
            case .emptyInput: return true
            case .error: return false
            }
        }
    }

    /// The bytes as text, for data that is not secret; `nil` if they are not UTF-8.
    package var text: String? { String(validating: self, as: UTF8.self) }
}

extension SecretSlice: Equatable {
    package static func == (left: SecretSlice, right: SecretSlice) -> Bool { left.elementsEqual(right) }

    /// Whether the bytes are those of a text.
    package static func == (left: SecretSlice, right: String) -> Bool { left.elementsEqual(right.utf8) }
}
