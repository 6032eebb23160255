public import FoundationEssentials
public import LocalDataAPI

/// A stored value that no version of its key reads, put aside so that nothing overwrites it.
public struct QuarantinedValue: Sendable {
    /// Names it in calls.
    public let id: String
    /// The address of its key.
    public let address: String
    /// The store that keeps it.
    public let store: String
    /// When it was put there.
    public let date: Date
    /// Why no version reads it.
    public let reason: String
    /// What was recorded with it.
    public let attributes: ValueAttributes
    /// In bytes.
    public let size: Int

    /// Values that were put aside, as far as they can be listed.
    public struct List: Sendable {
        /// The values, ordered by store and time.
        public let values: [QuarantinedValue]
        /// Why some stores or records cannot be read.
        public let failures: [StorageError]
    }

    /// A value that was put aside, with its bytes.
    public struct Content: Sendable {
        /// The value.
        public let value: QuarantinedValue
        /// Its bytes, decrypted.
        public let data: Data
    }
}

/// Values in quarantine: see `UndecodablePolicy`.
extension StorageRouter {
    /// The values in quarantine.
    public func quarantine() async throws -> QuarantinedValue.List { try await putAside(.undecodable) }

    func putAside(_ kind: Quarantine.Kind) async throws -> QuarantinedValue.List {
        let (found, failures) = await Quarantine(access: try await access(), kind: kind).items()
        return QuarantinedValue.List(values: found.map { QuarantinedValue($0) }, failures: failures)
    }

    func putAside(_ id: String, _ kind: Quarantine.Kind) async throws -> QuarantinedValue.Content {
        let quarantine = Quarantine(access: try await access(), kind: kind)
        let item = try await quarantine.item(id)
        return QuarantinedValue.Content(value: QuarantinedValue(item), data: try await quarantine.value(of: item))
    }

    /// The value with an id, or with the only id that begins so, and its bytes.
    ///
    /// - Throws: `notFound`; `invalidOptions` if several ids begin so; what reading the value throws.
    public func quarantinedValue(_ id: String) async throws -> QuarantinedValue.Content {
        try await putAside(id, .undecodable)
    }

    /// Puts a value back under its key, for a version of the program that reads it.
    ///
    /// - Parameter replacing: Whether a value that the key has now is replaced.
    /// - Returns: What was restored.
    /// - Throws: `notFound`; `busy` if the key has another value now.
    @discardableResult
    public func restoreQuarantined(_ id: String, replacing: Bool = false) async throws -> QuarantinedValue {
        let quarantine = Quarantine(access: try await access())
        let item = try await quarantine.item(id)
        try await quarantine.restore(item, replaces: replacing)
        return QuarantinedValue(item)
    }

    /// Removes a value from quarantine for good.
    ///
    /// - Returns: What was removed.
    /// - Throws: `notFound`.
    @discardableResult
    public func dropQuarantined(_ id: String) async throws -> QuarantinedValue {
        let quarantine = Quarantine(access: try await access())
        let item = try await quarantine.item(id)
        try await quarantine.drop(item)
        return QuarantinedValue(item)
    }
}

extension QuarantinedValue {
    init(_ item: Quarantine.Item) {
        self.init(
            id: item.id, address: item.record.key.address, store: item.open.name,
            date: Date(timeIntervalSince1970: Double(item.record.date) / 1e9), reason: item.record.reason,
            attributes: item.record.attributes, size: item.record.size)
    }
}
