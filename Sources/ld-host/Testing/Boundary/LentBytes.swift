internal import CLocalData
internal import FoundationEssentials
internal import LocalDataAPI

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
