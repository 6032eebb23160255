/// A watch under way, to be ended with `unwatch`.
package struct StoreWatch: @unchecked Sendable {
    // The token is opaque to the host, and the boundary's rules let any thread pass it to the store.
    let token: UnsafeMutableRawPointer?
    let listener: Unmanaged<StoreListener>
}

/// Whom a store tells of changes; kept alive by its watch.
final class StoreListener: Sendable {
    let changed: @Sendable (String?) -> Void

    init(_ changed: @escaping @Sendable (String?) -> Void) { self.changed = changed }
}
