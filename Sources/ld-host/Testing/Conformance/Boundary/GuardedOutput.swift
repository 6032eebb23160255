internal import CLocalData
internal import FoundationEssentials
internal import Glibc
internal import LocalDataAPI

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

/// Attributes in memory that is lent to a component until `free`.
struct LentAttributes {
    let pointer: UnsafePointer<ld_attributes>?
    private let texts: [UnsafeMutableRawBufferPointer]

    init(_ attributes: ValueAttributes?) {
        guard let attributes else {
            pointer = nil
            texts = []
            return
        }
        let fields = [
            attributes.contentType, attributes.serializer, attributes.versionTag, attributes.appVersion,
            attributes.owner,
        ]
        texts = fields.map { field in
            let bytes = Array((field ?? "").utf8)
            let text = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
            text.copyBytes(from: bytes)
            return text
        }
        let bytes = texts.map { ld_bytes(data: $0.baseAddress, count: $0.count) }
        let lent = UnsafeMutablePointer<ld_attributes>.allocate(capacity: 1)
        lent.initialize(
            to: ld_attributes(
                size: UInt32(MemoryLayout<ld_attributes>.size), content_type: bytes[0], serializer: bytes[1],
                version_tag: bytes[2], app_version: bytes[3], owner: bytes[4], value_size: 0, modified: 0,
                expires: attributes.expires ?? 0))
        pointer = UnsafePointer(lent)
    }

    func free() {
        for text in texts { text.deallocate() }
        pointer?.deallocate()
    }
}

/// Inputs of one call, each in its own memory that ends at an inaccessible page.
enum LentBytes {
    static func lend<Result>(_ inputs: Data..., to body: ([ld_bytes]) throws -> Result) rethrows -> Result {
        let lent = inputs.map { input in
            let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, input.count), alignment: 1)
            memory.copyBytes(from: input)
            return ld_bytes(data: memory.baseAddress, count: input.count)
        }
        defer { for bytes in lent { UnsafeMutableRawPointer(mutating: bytes.data)?.deallocate() } }
        return try body(lent)
    }
}

extension ld_bytes {
    /// Zero bytes at an unreadable address; with a count of 0 the address has no meaning.
    static func nothing(at address: UInt) -> ld_bytes {
        ld_bytes(data: UnsafeRawPointer(bitPattern: address), count: 0)
    }
}
