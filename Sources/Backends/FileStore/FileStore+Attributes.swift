import DurableFiles
package import LocalDataAPI

extension FileStore: AttributedBackend {
    package func attributes(of key: FileKey) throws -> ValueAttributes? {
        try StorageError.translating {
            guard let file = try key.place.open(key.path) else { return nil }
            let status = try file.status()
            let stored = try file.attribute(StoredAttributes.name)
            var attributes = stored.map(StoredAttributes.decoded) ?? ValueAttributes()
            attributes.size = UInt64(status.size)
            attributes.modified = status.modified
            return attributes
        }
    }
}
