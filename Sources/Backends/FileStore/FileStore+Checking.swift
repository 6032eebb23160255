internal import DurableFiles
internal import Glibc
internal import LocalDataAPI

/// Looks for a batch that was interrupted and cannot be completed.
extension FileStore: CheckableBackend {
    package func check(_ report: (String) -> Bool) throws {
        try StorageError.translating {
            do { try batches.recover() } catch let error as DurableBatchError where error.leavesReading {
                // Another process is completing it: that is not known to be well yet.
                if error.cause.code == ETIMEDOUT { throw error }
                // One that this process merely may not write is not damaged.
                if !error.cause.isRefusal || error.cause.detail != nil { _ = report("\(error)") }
            }
        }
    }
}

extension FileStore: RepairableBackend {
    package func repair(_ report: (String) -> Void) throws {
        try StorageError.translating {
            guard let journal = try batches.setAside() else { return }
            report("a batch is in place in part, and its rest is given up; its damaged journal is now '\(journal)'")
        }
    }
}
