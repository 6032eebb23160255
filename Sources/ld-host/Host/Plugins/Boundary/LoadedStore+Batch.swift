internal import CLocalData
package import LocalDataAPI

extension LoadedStore {
    /// Applies changes in order, all or none, even across a crash. The last change of a handle wins.
    ///
    /// - Throws: `unsupported` if the store has no batches, `valueTooLarge` for a value above the store's limit, and
    ///   whatever the store reports; then nothing has changed.
    package func apply(_ changes: [StorageChange<StoreHandle>]) throws(StorageError) {
        guard let batch = abilities.batch else { throw lacks("batches") }
        for change in changes {
            try checkSize(change.value?.count ?? 0)
            try checkExpiry(change.attributes)
        }
        let arena = BatchArena(changes)
        defer { arena.free() }
        _ = try passing({ changes.map(\.key.address) }) { () throws(StorageError) in
            try site("batch apply").call {
                batch.apply(table.`self`, arena.operations.baseAddress, arena.operations.count, $0)
            }
        }
    }
}

extension ValueAttributes {
    var textCount: Int {
        [contentType, serializer, versionTag, appVersion, owner].reduce(0) { $0 + ($1?.utf8.count ?? 0) }
    }
}
