import CLinux
import Glibc

/// An open file, until it goes out of scope.
///
/// If the file is replaced by name meanwhile, this one still reads the old content.
package struct OpenFile: ~Copyable {
    let descriptor: Descriptor
    let location: FileLocation

    init(_ descriptor: consuming Descriptor, at location: FileLocation) {
        self.descriptor = descriptor
        self.location = location
    }

    /// The file's path when it was opened, for people.
    package var path: String { location.description }

    /// The file's status.
    ///
    /// - Throws: `FileKindError` if it is not a regular file.
    package func status() throws -> FileStatus {
        var status = stat()
        guard fstat(descriptor.number, &status) == 0 else { throw failure(errno, "inspect") }
        let result = FileStatus(status)
        guard result.kind == .regular else {
            throw FileKindError(path: location.description, found: result.kind)
        }
        return result
    }

    /// An extended attribute; `nil` if the file has none of that name or the file system keeps none. See xattr(7).
    package func attribute(_ name: CString) throws -> [UInt8]? { try withAttribute(name) { Array($0) } }

    /// Lends the bytes of an extended attribute; `nil` if the file has none of that name or the file system keeps none.
    package func withAttribute<Result>(
        _ name: CString, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result? {
        var capacity = Self.smallAttribute
        while true {
            var code: Int32 = 0
            let result: Result? = try withUnsafeTemporaryAllocation(byteCount: capacity, alignment: 1) { buffer in
                let size = ld_linux_get_attribute(descriptor.number, name.start, buffer.baseAddress, buffer.count)
                if size >= 0 { return try body(UnsafeRawBufferPointer(rebasing: buffer[..<size])) }
                code = errno
                return nil
            }
            switch code {
            case 0: return result
            case ERANGE where capacity < Self.largestAttribute: capacity = Self.largestAttribute
            case ENODATA, ENOTSUP: return nil
            case let code: throw failure(code, "read the attributes of")
            }
        }
    }

    /// Sets an extended attribute of a file whose content has been written, if the file system keeps one of that size.
    func setAttribute(_ attribute: FileAttribute, of content: Checksum) throws {
        let value = attribute.value(
            ContentRecord(checksum: content.value, size: content.count, modified: try status().modified ?? 0))
        let result = value.withUnsafeBytes {
            ld_linux_set_attribute(descriptor.number, attribute.name.start, $0.baseAddress, $0.count)
        }
        if result == 0 { return }
        switch errno {
        case ENOTSUP, E2BIG, ERANGE: return
        // For a large attribute this means that the file system cannot keep one of that size; for a small one, that the
        // disk is full.
        case ENOSPC where value.count > Self.smallAttribute: return
        case let code: throw failure(code, "set an attribute of")
        }
    }

    /// Writes all bytes at the current position.
    func write(_ bytes: UnsafeRawBufferPointer) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = UnsafeRawBufferPointer(rebasing: rest)
            let count = Glibc.write(descriptor.number, part.baseAddress, part.count)
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if count == 0 || errno != EINTR {
                throw failure(count == 0 ? EIO : errno, "write")
            }
        }
    }

    /// Makes the content and the attributes durable.
    func synchronize() throws {
        guard Descriptor.synchronize(descriptor.number) == 0 else { throw failure(errno, "synchronize") }
    }

    func failure(_ code: Int32, _ call: String) -> SystemCallError {
        SystemCallError(code, call, path: location.description)
    }

    private static let largestAttribute = 1 << 16
    /// The size in bytes of an attribute that every file system with attributes can keep.
    private static let smallAttribute = 1 << 10
}
