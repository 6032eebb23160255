import DurableFiles
import FoundationEssentials
package import LocalDataAPI

extension FileStore: BatchBackend {
    /// Applies the changes, all or none, also across a crash: the batch is completed by whoever opens or changes a
    /// store of the same root next. While it is put in place, readers see part of it.
    ///
    /// It may have keys of places with folders of their own, on any file system. A change made there through a store of
    /// another root, between a crash and the completion, may be overtaken by it.
    package func apply(_ changes: [StorageChange<FileKey>]) throws {
        try StorageError.translating {
            // The values of a batch have few attributes between them.
            var encoded: [ValueAttributes: FileAttribute] = [:]
            try batches.apply(
                changes.map { change in
                    let (place, path) = (change.key.place, change.key.path)
                    guard let value = change.value else { return BatchChange(in: place, path, content: nil) }
                    let attributes = change.attributes ?? ValueAttributes()
                    let attribute = try encoded[attributes] ?? StoredAttributes.encoded(attributes)
                    encoded[attributes] = attribute
                    return BatchChange(in: place, path, attribute: attribute) { take in
                        try value.withUnsafeBytes { try take($0) }
                    }
                })
        }
    }
}
