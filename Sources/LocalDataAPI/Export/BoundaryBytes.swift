package import CLocalData
internal import FoundationEssentials

/// Conversions between Swift values and borrowed bytes at the boundary.
extension ld_bytes {
    package var buffer: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: count == 0 ? nil : data, count: count) }

    /// The text, if the bytes are valid UTF-8.
    package var text: String? {
        // Not String(validating:as:), which looks for its generic types at run time and takes three times as long.
        guard let valid = try? UTF8Span(validating: buffer.bindMemory(to: UInt8.self).span) else { return nil }
        return String(copying: valid)
    }

    /// The text, with anything that is not UTF-8 replaced: for messages only.
    package var lenientText: String { String(decoding: buffer, as: UTF8.self) }
}

extension String {
    /// Lends the string's UTF-8 for the time of `body`.
    @inline(__always)
    package func withBytes<Result, Failure: Error>(_ body: (ld_bytes) throws(Failure) -> Result) throws(Failure)
        -> Result
    {
        var copy = self
        let result: Swift.Result<Result, Failure> = copy.withUTF8 { utf8 in
            do throws(Failure) {
                return .success(try body(ld_bytes(data: utf8.baseAddress, count: utf8.count)))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// The string's UTF-8 in memory that is never freed, for what must outlive every call.
    package func immortalBytes() -> ld_bytes {
        let bytes = Array(utf8)
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        copy.copyBytes(from: bytes)
        return ld_bytes(data: copy.baseAddress, count: bytes.count)
    }
}

extension Data {
    package func immortalBytes() -> ld_bytes { String(decoding: self, as: UTF8.self).immortalBytes() }
}

extension UnsafePointer {
    /// The pointee in memory that is never freed.
    package static func immortal(_ value: Pointee) -> UnsafePointer {
        let pointer = UnsafeMutablePointer<Pointee>.allocate(capacity: 1)
        pointer.initialize(to: value)
        return UnsafePointer(pointer)
    }
}
