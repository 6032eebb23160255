import DurableFiles
package import LocalDataAPI

extension FileStore: VerifiableBackend {
    package func verify(_ key: FileKey) throws -> ValueState? {
        try StorageError.translating {
            guard let file = try key.place.open(key.path) else { return nil }
            return switch try file.readPieces(expecting: StoredAttributes.record(of: file), { _ in true }) {
            case .unrecorded: .unrecorded
            case .intact: .intact
            case .edited: .edited
            }
        }
    }
}

extension FileStore: WipingBackend {
    /// A value's file goes with the value, so no file holds anything of it but temporary ones of processes that were
    /// killed; those are removed. What it does not do is overwrite the blocks that a file had: no file system promises
    /// that the new bytes come to the same place.
    package func wipe(_ place: StorageNamespace) throws {
        try StorageError.translating {
            try batches.recover()
            try directory(of: place).removeAbandoned()
        }
    }
}
