import DurableFiles
import FoundationEssentials
package import LocalDataAPI

extension FileStore: BatchBackend {
    /// Applies the changes, all or none, also across a crash: the batch is completed by whoever opens or changes a store
    /// of the same root next. While it is put in place, readers see part of it.
    ///
    /// It may have keys of places with folders of their own, on any file system. A change made there through a store of
    /// another root, between a crash and the completion, may be overtaken by it.
    package func apply(_ changes: [StorageChange<FileKey>]) throws {
        try StorageError.translating { try batches.apply(changes.map(Self.batchChange)) }
    }

    private static func batchChange(_ change: StorageChange<FileKey>) throws -> BatchChange {
        let (place, path) = (change.key.place, change.key.path)
        guard let value = change.value else { return BatchChange(in: place, path, content: nil) }
        let attribute = try change.attributes.flatMap(StoredAttributes.init)?.encoded()
        return BatchChange(in: place, path, attribute: attribute) { take in
            try value.withUnsafeBytes { try take($0) }
        }
    }
}
