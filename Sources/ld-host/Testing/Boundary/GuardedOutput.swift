internal import FoundationEssentials
internal import Glibc

/// Memory that a provider writes to, between guards that show whether it wrote beyond it. Freed when it goes away.
final class GuardedOutput {
    private static let guardSize = 64
    private static let mark: UInt8 = 0xa5
    private let memory: UnsafeMutableRawBufferPointer
    private let count: Int

    /// - Parameter byte: What it holds before.
    init(_ count: Int, filledWith byte: UInt8 = GuardedOutput.mark) {
        self.count = count
        memory = .allocate(byteCount: count + 2 * Self.guardSize, alignment: 16)
        memory.initializeMemory(as: UInt8.self, repeating: Self.mark)
        UnsafeMutableRawBufferPointer(rebasing: memory[Self.guardSize..<Self.guardSize + count])
            .initializeMemory(as: UInt8.self, repeating: byte)
    }

    deinit { memory.deallocate() }

    /// Where to write; never `nil`, even for no bytes at all.
    var pointer: UnsafeMutableRawPointer? { memory.baseAddress.map { $0 + Self.guardSize } }

    var data: Data { Data(memory[Self.guardSize..<Self.guardSize + count]) }

    /// Whether both guards are as they were.
    var isWithinBounds: Bool {
        (memory.prefix(Self.guardSize) + memory.suffix(Self.guardSize)).allSatisfy { $0 == Self.mark }
    }

    /// Whether it holds nothing but zeros.
    var isZero: Bool {
        guard let pointer, count > 0 else { return true }
        return pointer.load(as: UInt8.self) == 0 && memcmp(pointer, pointer + 1, count - 1) == 0
    }
}
