internal import LocalDataAPI

extension StoreAccess {
    /// The store, component and plugin that serve a domain, and why: `'file' of libFileStore.so serves userDefaults:
    /// named in FILE:3`.
    func explanation(of domain: String) async throws -> String {
        guard let route = snapshot.settings.routes[domain] else {
            _ = try snapshot.slot(for: domain)
            return ""
        }
        let open = try await openStore(for: domain)
        let store = open.name == open.component ? "'\(open.name)'" : "'\(open.name)' (component '\(open.component)')"
        return "\(store) of \(open.plugin) serves \(domain): "
            + (route.origin == "default" ? "the built-in default" : "named in \(route.origin)")
    }
}
