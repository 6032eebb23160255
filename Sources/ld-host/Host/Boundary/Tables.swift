internal import CLocalData
internal import LocalDataAPI

/// Copies a table that crossed the boundary into a zeroed one of this host's revision, once. Functions that a smaller
/// table lacks are `NULL`; what a larger one has beyond it is ignored.
///
/// - Returns: `nil` if the pointer is `NULL`, or the table's size is below `required` or absurd.
func copyTable<Table>(_ pointer: UnsafeRawPointer?, into table: inout Table, required: Int) -> Bool {
    guard let pointer, UInt(bitPattern: pointer) % UInt(MemoryLayout<UInt>.alignment) == 0 else { return false }
    let size = Int(pointer.loadUnaligned(as: UInt32.self))
    guard size >= required, size <= largestTable else { return false }
    withUnsafeMutableBytes(of: &table) {
        $0.copyMemory(from: UnsafeRawBufferPointer(start: pointer, count: min(size, MemoryLayout<Table>.size)))
    }
    return true
}
