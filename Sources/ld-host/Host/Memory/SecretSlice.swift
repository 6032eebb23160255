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
    func copy(to memory: UnsafeMutableRawBufferPointer) {
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
