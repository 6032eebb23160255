internal import DurableFiles
internal import Glibc
internal import LocalDataAPI

/// Reports an interrupted batch that cannot be completed.
extension FileStore: CheckableBackend {
    package func check(_ report: (String) -> Bool) throws {
        try StorageError.translating {
            do { try batches.recover() } catch let error as DurableBatchError where error.leavesReading {
                // Another process is completing it; whether that succeeds is not known yet.
                if error.cause.code == ETIMEDOUT { throw error }
                // A batch that only this process must not write is not damaged.
                if !error.cause.isRefusal || error.cause.detail != nil { _ = report("\(error)") }
            }
        }
    }
}

extension FileStore: RepairableBackend {
    package func repair(_ report: (String) -> Void) throws {
        try StorageError.translating {
            guard let journal = try batches.setAside() else { return }
            report("a batch was only partly applied, and its rest is given up; its damaged journal is now '\(journal)'")
        }
    }
}
