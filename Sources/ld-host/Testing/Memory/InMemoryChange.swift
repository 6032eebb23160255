package import FoundationEssentials
package import LocalDataAPI

/// One of many changes of an ``InMemoryStore``, with bytes of its own.
package struct InMemoryChange: Sendable {
    package var key: StorageAddress
    /// `nil` removes the value.
    package var value: Data?
    package var attributes: ValueAttributes?
    /// What has to be there when it is the change's turn.
    package var expectation: BulkChanges.Expectation

    /// Copies changes that are lent.
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
