internal import Glibc
package import LocalDataAPI

/// Key material in its own memory, which is kept out of core dumps, out of swap where the system allows it, and cleared
/// before it is freed.
package final class SecretBytes: @unchecked Sendable {
    // Written in init only.
    private let memory: UnsafeMutableRawBufferPointer
    /// The number of secret bytes in it.
    package let count: Int

    /// Creates a secret that `fill` writes.
    ///
    /// - Throws: `noSpace` if there is no memory; what `fill` throws.
    package init(
        count: Int, _ fill: (UnsafeMutableRawBufferPointer) throws(StorageError) -> Void
    ) throws(StorageError) {
        let page = max(4096, sysconf(Int32(_SC_PAGESIZE)))
        let size = max(1, (count + page - 1) / page) * page
        guard let start = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            start != MAP_FAILED
        else { throw StorageError(.noSpace, "not enough memory for a key") }
        // Limits or an old system may refuse both; the secret is then as safe as other memory.
        mlock(start, size)
        madvise(start, size, MADV_DONTDUMP)
        memory = UnsafeMutableRawBufferPointer(start: start, count: size)
        self.count = count
        try fill(UnsafeMutableRawBufferPointer(rebasing: memory[..<count]))
    }

    /// Copies bytes; the caller clears the original.
    package convenience init(copying bytes: UnsafeRawBufferPointer) throws(StorageError) {
        try self.init(count: bytes.count) { (memory) throws(StorageError) in memory.copyMemory(from: bytes) }
    }

    deinit {
        guard let start = memory.baseAddress else { return }
        explicit_bzero(start, memory.count)
        munmap(start, memory.count)
    }

    /// The bytes, valid as long as this object lives. A variable that is not used again does not keep it alive: see
    /// ``withBytes(_:)``.
    package var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[..<count]) }

    /// Lends the bytes.
    package func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        defer { withExtendedLifetime(self) {} }
        return try body(bytes)
    }

    /// A copy of the first bytes.
    package func prefix(_ count: Int) throws(StorageError) -> SecretBytes {
        try withBytes { (bytes) throws(StorageError) in
            try SecretBytes(copying: UnsafeRawBufferPointer(rebasing: bytes.prefix(count)))
        }
    }
}

/// Clears memory in a way that the compiler does not optimize away.
@inline(__always)
package func clear(_ memory: UnsafeMutableRawBufferPointer) {
    if let start = memory.baseAddress { explicit_bzero(start, memory.count) }
}
