internal import CLocalData
package import FoundationEssentials
internal import HostGround
package import LocalDataAPI

/// A value as a store keeps it, with the revision and the attributes of the same write.
package struct RevisionedData: Sendable {
    package let data: Data
    /// Never 0.
    package let revision: UInt64
    package let attributes: ValueAttributes

    package init(data: Data, revision: UInt64, attributes: ValueAttributes) {
        self.data = data
        self.revision = revision
        self.attributes = attributes
    }
}

extension LoadedStore {
    /// The value with its revision; `nil` if absent.
    ///
    /// - Throws: `unsupported` if the store has no conditional changes, and whatever it reports.
    package func revisioned(_ handle: StoreHandle) throws(StorageError) -> RevisionedData? {
        let conditional = try conditional
        var received = ReceivedRevisioned()
        let call = site("conditional get")
        let status = try discardingExpired(handle, absent: LD_ABSENT) { () throws(StorageError) in
            try call.receiving(.revisioned, &received, .current) { slot in
                conditional.get(table.`self`, handle.pointer, slot.pointee.number, takeRevisioned, slot.pointee.error)
            }
        }
        let value = received.value
        guard (status == LD_OK) == (value != nil) else {
            throw call.violation("it returned status \(status) and passed \(value == nil ? "no" : "a") value")
        }
        return value.map { RevisionedData(data: $0, revision: received.revision, attributes: received.attributes) }
    }

    /// Stores a value if the stored one fulfils a condition.
    ///
    /// - Returns: The new revision; `nil` if it does not, and then nothing has changed.
    package func set(
        _ handle: StoreHandle, to value: Data, attributes: ValueAttributes?, if condition: WriteCondition
    ) throws(StorageError) -> UInt64? {
        let conditional = try conditional
        try checkSize(value.count)
        try checkExpiry(attributes)
        let (number, expected) = condition.boundary
        var revision = expected
        let call = site("conditional set")
        let status = try value.withBuffer { (buffer) throws(StorageError) in
            try passing(handle) { () throws(StorageError) in
                try call.call(.found) { error in
                    func set(_ attributes: UnsafePointer<ld_attributes>?) -> Int32 {
                        conditional.set(
                            table.`self`, handle.pointer, ld_bytes(buffer), attributes, number, &revision, error)
                    }
                    return attributes.map { $0.withBoundary { set($0) } } ?? set(nil)
                }
            }
        }
        guard status == LD_OK else { return nil }
        guard revision != 0, revision != expected else {
            throw call.violation(
                "it returned the revision \(revision) for a value that was \(expected)", code: .unknown)
        }
        return revision
    }

    /// Removes the value if it has a revision; `false` if it has another one or does not exist.
    package func remove(_ handle: StoreHandle, ifRevision revision: UInt64) throws(StorageError) -> Bool {
        let conditional = try conditional
        return try passing(handle) { () throws(StorageError) in
            try site("conditional remove").call(.found) {
                conditional.remove(table.`self`, handle.pointer, revision, $0)
            } == LD_OK
        }
    }

    private var conditional: ld_store_conditional {
        get throws(StorageError) {
            guard let conditional = abilities.conditional else { throw lacks("conditional changes") }
            return conditional
        }
    }
}
