package import LocalDataAPI

/// A plugin's description of itself: the result of an inspection, and an entry of the index.
package struct PluginDescription: Codable, Hashable, Sendable {
    /// One component of a plugin.
    package struct Component: Codable, Hashable, Sendable {
        package let kind: Int32
        package let id: String
        package let summary: String
        package let options: [ComponentOption]

        /// The kind's name, even of an unknown kind.
        package var kindName: String { ComponentKind(rawValue: kind)?.description ?? "unknown kind \(kind)" }
    }

    package let name: String
    package let version: String
    /// The ABI version that it was built for, e.g. `1.0`.
    package let abi: String
    package let components: [Component]
}
