import DurableFiles
package import LocalDataAPI

extension FileStore: StreamingBackend {
    package func read(_ key: FileKey, _ body: (RawSpan) -> Bool) throws -> Bool {
        try StorageError.translating {
            guard let file = try key.place.open(key.path) else { return false }
            try file.readPieces(body)
            return true
        }
    }

    package func write(
        _ key: FileKey, attributes: ValueAttributes?, from source: ((RawSpan) throws -> Void) throws -> Void
    ) throws {
        try StorageError.translating {
            let attribute = try attributes.flatMap(StoredAttributes.init)?.encoded()
            try batches.around { try key.place.replace(key.path, attribute: attribute, from: source) }
        }
    }
}
