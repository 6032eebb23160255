package import FoundationEssentials
package import LocalDataAPI

/// One change of an ``InMemoryStore``'s bulk change, with its own copy of the bytes.
package struct InMemoryChange: Sendable {
    package var key: StorageAddress
    /// `nil` removes the value.
    package var value: Data?
    package var attributes: ValueAttributes?
    /// The state that the change requires when it is applied.
    package var expectation: BulkChanges.Expectation

    /// Copies borrowed changes.
    package static func all(of changes: BulkChanges) throws -> [InMemoryChange] {
        var all: [InMemoryChange] = []
        all.reserveCapacity(changes.count)
        try changes.forEach { _, change, name, value in
            let name = name.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
            all.append(
                InMemoryChange(
                    key: StorageAddress(changes.places[change.place], name: name),
                    value: value?.withUnsafeBytes { Data($0) }, attributes: change.attributes,
                    expectation: change.expectation))
        }
        return all
    }
}
