internal import DurableFiles
internal import Glibc
package import LocalDataAPI

extension StorageError {
    /// The system's own text for an error number, e.g. "No such file or directory".
    package static func systemText(_ number: Int32) -> String {
        strerror(number).map { String(cString: $0) } ?? "error \(number)"
    }

    /// Converts the error of an operation on a host file; keeps a `StorageError` as it is.
    init(file error: any Error) {
        switch error {
        case let error as StorageError:
            self = error
        case let error as SystemCallError:
            self.init(Self.code(of: error), error.description, hint: Self.hint(for: error))
        case let error as DurableChangeError where error.outcome == .unchanged:
            self.init(Self.code(of: error.cause), error.description, hint: Self.hint(for: error.cause))
        case let error as DurableChangeError:
            self.init(.durabilityUnknown, error.description, hint: "check the disk, then repeat the change")
        case let error as FileKindError:
            self.init(.fileError, error.description, hint: "move it away")
        default:
            self.init(.unknown, "\(error)")
        }
    }

    private static func code(of error: SystemCallError) -> Code {
        switch error.code {
        case ENOSPC, EDQUOT: .noSpace
        case EACCES, EPERM, EROFS: .permissionDenied
        case ETIMEDOUT: .busy
        default: .fileError
        }
    }

    private static func hint(for error: SystemCallError) -> String {
        switch error.code {
        case ENOSPC, EDQUOT: "free some space on that disk"
        case EPERM where error.detail != nil, ELOOP where error.detail != nil:
            "find out which user put it there, and remove it"
        case ETIMEDOUT: "try again, or end the process that holds the lock"
        case EACCES, EPERM: "check the owner and the mode of the path and of the folders above it"
        case EROFS: "move it to a writable disk"
        case EMFILE, ENFILE: "raise the limit of open files (ulimit -n)"
        case ENOTDIR: "something that is not a folder is in the way; move it"
        case ELOOP: "replace the symbolic link with a regular file"
        case ENOLCK, ENOSYS, EOPNOTSUPP: "move it to a file system that has locks"
        default: ""
        }
    }
}

/// Runs code that throws any error, and converts it to a `StorageError` that keeps its description.
func storageErrors<Value>(_ body: () throws -> Value) throws(StorageError) -> Value {
    do {
        return try body()
    } catch let error as StorageError {
        throw error
    } catch {
        throw StorageError(.unknown, "\(error)")
    }
}
