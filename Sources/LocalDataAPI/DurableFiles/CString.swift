/// NUL-terminated bytes at a fixed address, so that a system call needs no conversion.
package final class CString: Sendable {
    nonisolated(unsafe) let start: UnsafePointer<CChar>
    /// The number of bytes before the NUL.
    package let count: Int

    /// Copies bytes, up to the first NUL.
    package init(_ bytes: some Sequence<UInt8>) {
        let bytes = ContiguousArray(bytes.prefix { $0 != 0 })
        let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count + 1)
        for (index, byte) in bytes.enumerated() { (copy + index).initialize(to: CChar(bitPattern: byte)) }
        (copy + bytes.count).initialize(to: 0)
        start = UnsafePointer(copy)
        count = bytes.count
    }

    deinit { start.deallocate() }
}

extension CString {
    /// The bytes before the NUL.
    var bytes: [UInt8] { Array(UnsafeRawBufferPointer(start: start, count: count)) }
}

extension CString: CustomStringConvertible {
    /// The bytes as text; invalid UTF-8 is repaired.
    package var description: String { String(cString: start) }
}
