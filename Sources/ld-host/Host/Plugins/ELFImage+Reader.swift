import Glibc
import LocalDataAPI

extension ELFImage {
    /// Reads ranges of an open file into memory; every range is checked.
    package struct Reader {
        /// The largest range for one read: 64 MiB, about ten times the symbol table of a large Swift library.
        package static let largestRange: UInt64 = 64 << 20

        /// The file's size when it was opened.
        package let size: UInt64
        /// The file's path, for messages.
        package let path: String
        private let descriptor: CInt

        /// Reads from a descriptor that the caller owns.
        package init(descriptor: CInt, size: UInt64, path: String) {
            self.descriptor = descriptor
            self.size = size
            self.path = path
        }

        /// Reads a whole range.
        ///
        /// - Parameters:
        ///   - offset: The start of the range.
        ///   - count: Its length in bytes.
        ///   - what: Its content, for messages.
        /// - Throws: `StorageError.pluginRefused` if the range is not in the file, is above the limit, or the file has
        ///   become shorter.
        package func read(at offset: UInt64, count: UInt64, of what: String) throws -> Bytes {
            let (end, overflow) = offset.addingReportingOverflow(count)
            guard !overflow, end <= size else { throw truncated(overflow ? nil : end, what) }
            guard count <= Self.largestRange else {
                throw damaged("has \(what) of \(count) bytes, expected at most \(Self.largestRange)")
            }
            let bytes = try [UInt8](unsafeUninitializedCapacity: Int(count)) { buffer, filled in
                while filled < Int(count) {
                    let rest = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[filled...])
                    let result = pread(descriptor, rest.baseAddress, rest.count, off_t(offset) + off_t(filled))
                    if result < 0 && errno == EINTR { continue }
                    guard result >= 0 else {
                        throw StorageError.refusing(path, "cannot be read: \(StorageError.systemText(errno))")
                    }
                    guard result > 0 else {
                        throw StorageError.refusing(
                            path, "became shorter while it was read: \(what) ends at byte \(offset + UInt64(filled))",
                            hint: "wait until it is written, then try again")
                    }
                    filled += result
                }
            }
            return Bytes(bytes)
        }

        /// The refusal of a file that ends too early; `nil` for an end that no file can reach.
        func truncated(_ end: UInt64?, _ what: String) -> StorageError {
            let expected = end.map { "at least \($0) bytes" } ?? "a possible size"
            return damaged("is truncated or damaged: \(what) needs \(expected), found \(size)")
        }

        /// A refusal with advice for damaged files.
        func damaged(_ finding: String) -> StorageError {
            .refusing(path, finding, hint: "install the plugin again")
        }
    }
}
