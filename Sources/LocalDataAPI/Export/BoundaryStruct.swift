internal import CLocalData

/// How both sides read a struct that crossed the boundary: see "How this ABI grows" in the C header.
package enum BoundaryStruct {
    /// Copies a struct of the other side into a zeroed one of this side's revision, once. Members that a smaller struct
    /// lacks are 0 or `NULL`; what a larger one has beyond this side's is ignored.
    ///
    /// - Parameter least: What the struct has in minor 1: the header's `ld_..._least_size`.
    /// - Returns: `false` if the pointer is `NULL` or misaligned, or the struct has no size that a struct can have.
    package static func copy<Struct>(_ pointer: UnsafeRawPointer?, into copy: inout Struct, least: Int) -> Bool {
        withUnsafeMutableBytes(of: &copy) { Self.copy(pointer, to: $0, least: least) }
    }

    /// The same, for code that must be fast: it is not generic.
    package static func copy(
        _ pointer: UnsafeRawPointer?, to copy: UnsafeMutableRawBufferPointer, least: Int
    ) -> Bool {
        guard let pointer, UInt(bitPattern: pointer) % UInt(step) == 0 else { return false }
        let size = Int(pointer.load(as: UInt32.self))
        guard size >= least, size <= largest, size % step == 0 else { return false }
        copy.copyMemory(from: UnsafeRawBufferPointer(start: pointer, count: min(size, copy.count)))
        return true
    }

    /// The size that the other side wrote, for errors; 0 for no struct.
    package static func size(_ pointer: UnsafeRawPointer?) -> UInt32 {
        pointer?.loadUnaligned(as: UInt32.self) ?? 0
    }

    /// The sizes that a struct may have, for errors.
    package static func sizes(least: Int) -> String { "\(least) to \(largest), a multiple of \(step)" }

    // Not stored: reading a stored one would take a check of its initialization in each call.
    private static var largest: Int { Int(LD_LARGEST_STRUCT) }
    private static var step: Int { MemoryLayout<UnsafeRawPointer>.size }
}
