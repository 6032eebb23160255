import DurableFiles
package import LocalDataAPI

extension FileStore: StreamingBackend {
    package func read(_ key: FileKey, _ body: (RawSpan) -> Bool) throws -> Bool {
        try StorageError.translating {
            guard let file = try key.place.open(key.path) else { return false }
            let state = try file.readPieces(expecting: StoredAttributes.record(of: file), body)
            if state == .edited { noteEdit(file.path) }
            return true
        }
    }

    package func write(
        _ key: FileKey, attributes: ValueAttributes?, from source: ((RawSpan) throws -> Void) throws -> Void
    ) throws {
        try StorageError.translating {
            let attribute = try StoredAttributes.encoded(attributes)
            try batches.replace(key.path, in: key.place, attribute: attribute, from: source)
        }
    }
}
