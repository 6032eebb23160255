import DurableFiles
import Glibc
import LocalDataAPI

extension StorageError {
    /// Runs file operations, and converts their errors into the store's; other errors pass through.
    @inline(__always)
    static func translating<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as SystemCallError {
            throw StorageError(code(of: error), error.description, hint: hint(for: error))
        } catch let error as DurableChangeError {
            switch error.outcome {
            case .unchanged:
                throw StorageError(code(of: error.cause), error.description, hint: hint(for: error.cause))
            case .durabilityUnknown:
                throw StorageError(
                    .durabilityUnknown, error.description, hint: "check the disk, then repeat the change")
            }
        } catch let error as DurableBatchError {
            switch error.outcome {
            case .unchanged, .blocked:
                throw StorageError(code(of: error.cause), error.description, hint: hint(for: error.cause))
            case .durabilityUnknown:
                throw StorageError(
                    .durabilityUnknown, error.description, hint: "check the disk, then repeat the change")
            case .incomplete:
                throw StorageError(
                    .durabilityUnknown, error.description,
                    hint: "check the disk; the next change, or reopening the store, resumes the batch")
            }
        } catch let error as CorruptFileError {
            throw StorageError(
                .corrupt, error.description,
                hint: "restore it from a backup, or set or remove the value; its bytes as they are: cat '\(error.path)'"
            )
        } catch let error as FileKindError {
            throw StorageError(
                .fileError, error.description,
                hint: "move it away; the file store keeps its values there, only in regular files")
        }
    }

    /// Runs code that begins a watch, and names the system's limit that it exceeds.
    static func translatingWatch<Result>(_ body: () throws -> Result) throws -> Result {
        try translating {
            do {
                return try body()
            } catch let error as SystemCallError where error.code == ENOSPC || error.code == EMFILE {
                let limit = error.code == ENOSPC ? "fs.inotify.max_user_watches" : "fs.inotify.max_user_instances"
                throw StorageError(.busy, error.description, hint: "raise \(limit) (sysctl), or watch less at once")
            }
        }
    }

    private static func code(of error: SystemCallError) -> Code {
        switch error.code {
        case ENOSPC, EDQUOT: .noSpace
        case EACCES, EPERM, EROFS: .permissionDenied
        case ETIMEDOUT: .busy
        case EBADMSG: .corrupt
        default: .fileError
        }
    }

    private static func hint(for error: SystemCallError) -> String {
        switch error.code {
        case ENOSPC, EDQUOT: "free some space, or move the store to another disk"
        case EPERM where error.detail != nil, ELOOP where error.detail != nil:
            "find out which user put it there, and remove it"
        case ETIMEDOUT: "try again, or end the process that holds the lock"
        case EBADMSG: "the batch is partly applied; check its values, then run: ld-host doctor --repair"
        case EACCES, EPERM: "check the owner and the mode of the path and of the folders above it"
        case EROFS: "move the store to a writable disk"
        case EMFILE, ENFILE: "raise the limit of open files (ulimit -n)"
        case ENAMETOOLONG: "use a shorter root, scope or name"
        case ENOTDIR: "something that is not a folder is in the way; move it"
        default: ""
        }
    }
}
