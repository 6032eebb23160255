/// Names a provider of key material that the app registers with the router.
public struct KeyMaterialSource: Hashable, Sendable {
    /// The name under which the provider is registered.
    public let id: String

    /// Names a source.
    public init(id: String) { self.id = id }
}
