internal import LocalDataAPI

/// The store, component and plugin that serve a domain, and why.
public struct DomainRoute: Hashable, Sendable {
    /// The domain.
    public let domain: String
    /// The store's name in the configuration.
    public let store: String
    /// The component that the store is opened with.
    public let component: String
    /// The plugin that offers the component: the path of its file, or its name if the program links it.
    public let plugin: String
    /// Where the configuration maps the domain to the store; `nil` for the built-in default.
    public let origin: String?
    /// Why this plugin serves the component, if several offer it; otherwise empty.
    public internal(set) var choice = ""
}

extension DomainRoute: CustomStringConvertible {
    /// The route as a sentence: `'file' of libFileStore.so serves userDefaults: named in FILE:3`.
    public var description: String {
        let name = store == component ? "'\(store)'" : "'\(store)' (component '\(component)')"
        let reason = origin.map { "named in \($0)" } ?? "the built-in default"
        return "\(name) of \(plugin) serves \(domain): \(reason)" + (choice.isEmpty ? "" : "; \(choice)")
    }
}
