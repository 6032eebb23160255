import PackagePlugin

/// The plugins of LocalData, as its manifest has them.
struct KnownPlugins {
    /// The target that stands on the host and on the default plugins.
    static let together = "DefaultPlugins"

    /// All, sorted: its dynamic libraries.
    let all: [String]
    /// Those that are built if none is named.
    let defaults: [String]

    /// - Parameter package: The package for which the command runs. It may be LocalData itself, or need it by way of
    ///   another one.
    init(_ package: Package) {
        var (packages, seen) = ([package], Set<Package.ID>())
        while let next = packages.popLast() {
            guard seen.insert(next.id).inserted else { continue }
            let libraries = next.products(ofType: LibraryProduct.self)
            if libraries.contains(where: { $0.name == "LocalDataAPI" }) {
                let all = libraries.filter { $0.kind == .dynamic }
                let together = next.targets.first { $0.name == Self.together }?.dependencies.compactMap {
                    if case .target(let target) = $0 { target.id } else { nil }
                }
                self.all = all.map(\.name).sorted()
                defaults = (together ?? []).compactMap { id in
                    all.first { $0.targets.contains { $0.id == id } }?.name
                }
                return
            }
            packages += next.dependencies.map(\.package)
        }
        (all, defaults) = ([], [])
    }
}
