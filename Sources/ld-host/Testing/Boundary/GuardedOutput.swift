internal import FoundationEssentials
internal import Glibc

/// A buffer for a provider's output, between guards that show whether the provider wrote beyond it. Freed on
/// deallocation.
final class GuardedOutput {
    private static let guardSize = 64
    private static let mark: UInt8 = 0xa5
    private let memory: UnsafeMutableRawBufferPointer
    private let count: Int

    /// - Parameter byte: The initial content.
    init(_ count: Int, filledWith byte: UInt8 = GuardedOutput.mark) {
        self.count = count
        memory = .allocate(byteCount: count + 2 * Self.guardSize, alignment: 16)
        memory.initializeMemory(as: UInt8.self, repeating: Self.mark)
        UnsafeMutableRawBufferPointer(rebasing: memory[Self.guardSize..<Self.guardSize + count])
            .initializeMemory(as: UInt8.self, repeating: byte)
    }

    deinit { memory.deallocate() }

    /// The buffer's address; never `nil`, even for a count of zero.
    var pointer: UnsafeMutableRawPointer? { memory.baseAddress.map { $0 + Self.guardSize } }

    var data: Data { Data(memory[Self.guardSize..<Self.guardSize + count]) }

    /// Whether both guards are intact.
    var isWithinBounds: Bool {
        (memory.prefix(Self.guardSize) + memory.suffix(Self.guardSize)).allSatisfy { $0 == Self.mark }
    }

    /// Whether the buffer contains only zeros.
    var isZero: Bool {
        guard let pointer, count > 0 else { return true }
        return pointer.load(as: UInt8.self) == 0 && memcmp(pointer, pointer + 1, count - 1) == 0
    }
}
