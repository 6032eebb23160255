package import CLocalData

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif
internal import Synchronization

/// Conversions between Swift values and borrowed bytes at the boundary.
extension ld_bytes {
    /// The most bytes that cross the boundary at once: 4 GiB. Larger values cross in pieces.
    package static var largest: Int { 1 << 32 }

    /// The only access to the other side's bytes. `nil` for an impossible pointer and count: a negative or absurd
    /// count, bytes at `NULL`, more memory than this process has there. A count of zero is always possible.
    @inline(__always)
    package var checked: UnsafeRawBufferPointer? {
        if count == 0 { return UnsafeRawBufferPointer(start: nil, count: 0) }
        guard let data, count > 0, count <= 1 << 20 || isMapped else { return nil }
        return UnsafeRawBufferPointer(start: data, count: count)
    }

    /// The bytes.
    ///
    /// - Throws: `corrupt` with what is impossible about them.
    @inline(__always)
    package func bytes() throws(StorageError) -> UnsafeRawBufferPointer {
        guard let checked else {
            throw StorageError(.corrupt, "bytes at the plugin boundary are unusable: \(flaw())")
        }
        return checked
    }

    /// What is impossible about the pointer and count, for errors.
    package func flaw(atMost limit: Int = largest) -> String {
        guard data != nil || count == 0 else { return "\(UInt(bitPattern: count)) bytes at the address NULL" }
        guard (0...limit).contains(count) else {
            return "a count of \(UInt(bitPattern: count)) bytes; expected at most \(limit)"
        }
        return "\(count) bytes at an address where this process has less memory"
    }

    /// Whether the whole range is mapped in this process, by msync(2), which only checks the mappings.
    @inline(never)
    private var isMapped: Bool {
        guard let data, count <= Self.largest else { return false }
        let (start, page) = (UInt(bitPattern: data), UInt(getpagesize()))
        let first = start / page * page
        guard let pages = UnsafeMutableRawPointer(bitPattern: first) else { return false }
        return msync(pages, count + Int(start - first), MS_ASYNC) == 0
    }

    /// The text, if the bytes are accessible and valid UTF-8.
    package var text: String? {
        guard let checked else { return nil }
        // Not String(validating:as:), which looks up its generic types at run time and takes three times as long.
        guard let valid = try? UTF8Span(validating: checked.bindMemory(to: UInt8.self).span) else { return nil }
        return String(copying: valid)
    }

    /// The text, if it has at most `limit` bytes.
    package func text(atMost limit: Int) -> String? { count <= limit ? text : nil }

    /// The text for messages only: invalid UTF-8 is replaced, text is cut at 64 KiB, and inaccessible bytes are
    /// described.
    package var lenientText: String {
        guard let checked else { return "(an unusable text: \(flaw()))" }
        return String(decoding: checked.prefix(64 << 10), as: UTF8.self)
    }
}

extension String {
    /// Lends the string's UTF-8 for the duration of `body`.
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

    /// The string's UTF-8 in memory that is never freed, for texts that outlive every call.
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

/// Where memory is that is never freed, so that a leak sanitizer finds it, whatever else holds its address.
private enum ImmortalMemory {
    static let addresses = Mutex([UInt]())
}

extension UnsafePointer {
    /// The pointee in memory that is never freed.
    package static func immortal(_ value: Pointee) -> UnsafePointer {
        let pointer = UnsafeMutablePointer<Pointee>.allocate(capacity: 1)
        pointer.initialize(to: value)
        ImmortalMemory.addresses.withLock { $0.append(UInt(bitPattern: pointer)) }
        return UnsafePointer(pointer)
    }
}

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

extension UnsafeMutableRawBufferPointer {
    /// Overwrites the memory, which may hold a secret, in a way that the compiler does not optimize away.
    func clear() {
        guard let start = baseAddress else { return }
        #if canImport(Glibc)
            explicit_bzero(start, count)
        #else
            memset_s(start, count, 0, count)
        #endif
    }
}
