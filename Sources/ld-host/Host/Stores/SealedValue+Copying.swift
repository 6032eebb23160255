internal import Glibc
internal import LocalDataAPI

extension SealedValue {
    /// Copies the value, in bounded memory if both stores stream.
    ///
    /// - Parameters:
    ///   - attributes: The attributes that the store keeps beside it.
    ///   - sealed: The attributes in the envelopes; the same if `nil`.
    ///   - size: The expected number of bytes, if known.
    ///   - pass: Called with each copied piece.
    ///   - check: Called when everything has been read, before the copy takes effect; an error cancels the copy.
    /// - Throws: What reading or writing throws, and `corrupt` for another size; then the target keeps its old value.
    func copy(
        to target: SealedValue, attributes: ValueAttributes?, sealing sealed: ValueAttributes? = nil, size: Int? = nil,
        passing pass: (UnsafeRawBufferPointer) -> Void = { _ in }, ifHolds check: () throws(StorageError) -> Void = {}
    ) throws(StorageError) {
        try withoutActuallyEscaping(check) { (check) throws(StorageError) in
            try withoutActuallyEscaping(pass) { (pass) throws(StorageError) in
                try copy(to: target, attributes, sealed, size, pass, check)
            }
        }
    }

    private func copy(
        to target: SealedValue, _ attributes: ValueAttributes?, _ sealed: ValueAttributes?, _ size: Int?,
        _ pass: @escaping (UnsafeRawBufferPointer) -> Void, _ check: @escaping () throws(StorageError) -> Void
    ) throws(StorageError) {
        try withPipe(size) { (pipe) throws(StorageError) in
            var copied = 0
            do {
                try target.write(attributes: attributes, sealing: sealed) { buffer in
                    let count = try pipe.read(into: buffer)
                    copied += count
                    pass(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                    // Before the end is written: a partial value must not replace the target.
                    guard count > 0 || copied == size ?? copied else {
                        throw StorageError(.corrupt, "only \(copied) of \(size ?? 0) bytes of a value could be read")
                    }
                    if count == 0 { try check() }
                    return count
                }
            } catch {
                throw (error as? StorageError) ?? StorageError(.unknown, "\(error)")
            }
        }
    }

    /// Whether another location has the same bytes.
    func isEqual(to other: SealedValue) throws(StorageError) -> Bool {
        try withPipe(nil) { (pipe) throws(StorageError) in
            let memory = UnsafeMutableRawPointer.allocate(byteCount: 64 << 10, alignment: 64)
            let buffer = UnsafeMutableRawBufferPointer(start: memory, count: 64 << 10)
            defer {
                clear(buffer)
                memory.deallocate()
            }
            var failure: StorageError?
            var isEqual = true
            let found = try other.read(.chunks) { piece in
                var rest = piece[...]
                while isEqual, failure == nil, !rest.isEmpty {
                    let space = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(rest.count))
                    do throws(StorageError) {
                        let count = try pipe.read(into: space)
                        let part = UnsafeRawBufferPointer(rebasing: rest.prefix(count)).baseAddress
                        isEqual = count > 0 && part.map { memcmp($0, memory, count) == 0 } ?? false
                        rest = rest.dropFirst(count)
                    } catch { failure = error }
                }
                return isEqual && failure == nil
            }
            if let failure { throw failure }
            guard found, isEqual else { return false }
            return try pipe.read(into: buffer) == 0
        }
    }

    /// Lends a pipe into which a separate thread reads the value.
    private func withPipe<Result>(
        _ size: Int?, _ body: (PiecePipe) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        let pipe = PiecePipe(size: size)
        // Not a thread of the pool: all of them may be waiting for a ring that the caller holds.
        try onOwnThread {
            do throws(StorageError) {
                let found = try read(.chunks) { pipe.write($0) }
                pipe.finish(found ? nil : StorageError(.notFound, "the value was removed"))
            } catch {
                pipe.finish(error)
            }
        }
        defer { pipe.close() }
        return try body(pipe)
    }
}
