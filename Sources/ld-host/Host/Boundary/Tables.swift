internal import CLocalData
internal import LocalDataAPI

/// Copies a table that came over the boundary into a zeroed one of this host's revision, once: what a smaller table
/// lacks is `NULL`, what a larger one has besides is left alone.
///
/// - Returns: `nil` if the pointer is `NULL` or the table's size is below `required` or absurd.
func copyTable<Table>(_ pointer: UnsafeRawPointer?, into table: inout Table, required: Int) -> Bool {
    guard let pointer, UInt(bitPattern: pointer) % UInt(MemoryLayout<UInt>.alignment) == 0 else { return false }
    let size = Int(pointer.loadUnaligned(as: UInt32.self))
    guard size >= required, size <= largestTable else { return false }
    withUnsafeMutableBytes(of: &table) {
        $0.copyMemory(from: UnsafeRawBufferPointer(start: pointer, count: min(size, MemoryLayout<Table>.size)))
    }
    return true
}
