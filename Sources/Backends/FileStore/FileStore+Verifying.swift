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
    /// A value's file is removed with the value, so only temporary files of killed processes may still contain parts of
    /// it; those are removed. It does not overwrite the blocks of removed files: no file system promises that new bytes
    /// go to the same blocks.
    package func wipe(_ place: StorageNamespace) throws {
        try StorageError.translating {
            try batches.recover()
            try directory(of: place).removeAbandoned()
        }
    }
}
