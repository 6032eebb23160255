public import FoundationEssentials
internal import Glibc

/// Data of this size, not zeroed before `fill` writes all of it. If `fill` throws, the error is returned and the bytes
/// are cleared. Those of more than 14 bytes, which are not kept in the `Data` itself, are cleared when they are freed.
package func filled<Failure: Error>(
    _ count: Int, _ fill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void
) -> (data: Data, failure: Failure?) {
    guard count > 0, let memory = malloc(count) else {
        var data = Data(count: count)
        let failure: Failure? = data.withUnsafeMutableBytes { bytes in
            do throws(Failure) { try fill(bytes) } catch {
                clear(bytes)
                return error
            }
            return nil
        }
        return (data, failure)
    }
    let bytes = UnsafeMutableRawBufferPointer(start: memory, count: count)
    do throws(Failure) { try fill(bytes) } catch {
        clear(bytes)
        free(memory)
        return (Data(), error)
    }
    return (Data(bytesNoCopy: memory, count: count, deallocator: clearing), nil)
}

/// Frees memory that `malloc` has given out. What was opened may be in it.
private var clearing: Data.Deallocator {
    .custom { memory, count in
        clear(UnsafeMutableRawBufferPointer(start: memory, count: count))
        free(memory)
    }
}

/// One data of some, cleared when it is freed as that of ``filled(_:_:)`` is.
package func joined(_ parts: Data...) -> Data {
    filled(parts.reduce(0) { $0 + $1.count }) { memory in
        var rest = memory[...]
        for part in parts {
            part.withUnsafeBytes {
                MemorySecrecy.copy($0, to: UnsafeMutableRawBufferPointer(rebasing: rest.prefix($0.count)))
            }
            rest = rest.dropFirst(part.count)
        }
    }.data
}

extension [UInt8] {
    /// `withUnsafeBytes` with a typed error.
    @inlinable @inline(__always)
    package func withBuffer<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let result: Swift.Result<Result, Failure> = withUnsafeBytes { bytes in
            do throws(Failure) { return .success(try body(bytes)) } catch { return .failure(error) }
        }
        return try result.get()
    }
}

extension Data {
    /// `withUnsafeBytes` with a typed error.
    @inlinable @inline(__always)
    package func withBuffer<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let result: Swift.Result<Result, Failure> = withUnsafeBytes { bytes in
            do throws(Failure) { return .success(try body(bytes)) } catch { return .failure(error) }
        }
        return try result.get()
    }
}
