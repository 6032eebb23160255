internal import HostMigration
internal import LocalDataAPI

extension StorageRouter {
    /// The values that no version of their type could read: see `UndecodablePolicy`.
    public var quarantine: QuarantineManagement { QuarantineManagement(router: self) }

    /// Values in quarantine; see ``StorageRouter/quarantine``.
    public struct QuarantineManagement: Sendable {
        let router: StorageRouter
    }
}

extension StorageRouter.QuarantineManagement {
    /// The values in quarantine.
    public func list() async throws -> QuarantinedValue.List { try await putAside(.undecodable) }

    func putAside(_ kind: Quarantine.Kind) async throws -> QuarantinedValue.List {
        let (found, failures) = await Quarantine(access: try await router.access(), kind: kind).items()
        return QuarantinedValue.List(values: found.map { QuarantinedValue($0) }, failures: failures)
    }

    func putAside(_ id: String, _ kind: Quarantine.Kind) async throws -> QuarantinedValue.Content {
        let quarantine = Quarantine(access: try await router.access(), kind: kind)
        let item = try await quarantine.item(id)
        return QuarantinedValue.Content(value: QuarantinedValue(item), data: try await quarantine.value(of: item))
    }

    /// The value with an id, or with the only id that begins so, and its bytes.
    ///
    /// - Throws: `notFound`; `invalidOptions` if several ids begin so; what reading the value throws.
    public func value(_ id: String) async throws -> QuarantinedValue.Content {
        try await putAside(id, .undecodable)
    }

    /// Puts a value back under its key, for a version of the program that reads it.
    ///
    /// - Parameter replacing: Whether a value that the key has now is replaced.
    /// - Returns: What was restored.
    /// - Throws: `notFound`; `busy` if the key has another value now.
    @discardableResult
    public func restore(_ id: String, replacing: Bool = false) async throws -> QuarantinedValue {
        let quarantine = Quarantine(access: try await router.access())
        let item = try await quarantine.item(id)
        try await quarantine.restore(item, replaces: replacing)
        return QuarantinedValue(item)
    }

    /// Removes a value from quarantine for good.
    ///
    /// - Returns: What was removed.
    /// - Throws: `notFound`.
    @discardableResult
    public func drop(_ id: String) async throws -> QuarantinedValue {
        let quarantine = Quarantine(access: try await router.access())
        let item = try await quarantine.item(id)
        try await quarantine.drop(item)
        return QuarantinedValue(item)
    }
}
