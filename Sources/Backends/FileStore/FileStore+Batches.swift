import DurableFiles
import FoundationEssentials
package import LocalDataAPI

extension FileStore: BatchBackend {
    /// Applies the changes, all or none, even across a crash: the next process that opens or changes a store of the
    /// same root completes the batch. While it is put in place, readers see part of it.
    ///
    /// It may include namespaces with their own folders, on any file system. If a store of another root changes a value
    /// there between a crash and the completion, the batch may overwrite that change.
    package func apply(_ changes: [StorageChange<FileKey>]) throws {
        try StorageError.translating {
            // The values of a batch have few different attributes.
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
