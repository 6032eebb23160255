internal import FoundationEssentials
internal import Glibc

/// Where to look for plugins. The order of the locations has no meaning: two plugins that offer the same component are
/// ambiguous wherever they are. ``ComponentChoice`` says how a component that is linked into the program changes that.
package struct PluginSearchPath: Sendable {
    /// A folder of plugins, or one plugin's file, and where it was named.
    package struct Place: Hashable, Sendable {
        package let path: String
        package let origin: String
        /// Whether the configuration or the environment names it.
        package let isConfigured: Bool

        package init(path: String, origin: String, isConfigured: Bool = true) {
            self.path = path
            self.origin = origin
            self.isConfigured = isConfigured
        }
    }

    /// A file that may be a plugin.
    package struct Candidate: Hashable, Sendable {
        package let path: String
        package let origin: String
        /// Whether the file itself was named, so that it is an error if it is not a plugin.
        package let isNamed: Bool
        /// Whether the configuration or the environment names its folder, or the file.
        package let isConfigured: Bool

        package init(path: String, origin: String, isNamed: Bool, isConfigured: Bool = true) {
            self.path = path
            self.origin = origin
            self.isNamed = isNamed
            self.isConfigured = isConfigured
        }
    }

    package let places: [Place]

    /// Creates a search path from locations.
    package init(places: [Place]) { self.places = places }

    /// The locations that every host searches besides the configured ones: beside the executable, and where system
    /// packages install plugins.
    package static func builtIn(executable: String?) -> [Place] {
        guard let executable, let slash = executable.lastIndex(of: "/") else { return [] }
        let folder = String(executable[..<slash])
        var places = [Place(path: folder.isEmpty ? "/" : folder, origin: "beside the executable", isConfigured: false)]
        if let slash = folder.lastIndex(of: "/"), folder[folder.index(after: slash)...] == "bin" {
            places.append(
                Place(
                    path: "\(folder[..<slash])/lib/localdata/plugins", origin: "the installation", isConfigured: false))
        }
        return places
    }

    /// The running program's real path.
    package static let executable: String? = {
        guard let path = realpath("/proc/self/exe", nil) else { return nil }
        defer { free(path) }
        return String(validatingCString: path)
    }()

    /// The files that may be plugins: `lib*.so` in the folders, and the named files; each real path once, ordered by
    /// path. A missing folder has none.
    package func candidates() -> [Candidate] {
        var found: [String: Candidate] = [:]
        for place in places {
            if let names = Self.libraries(in: place.path) {
                let folder = names.isEmpty ? "" : Self.realPath(place.path)
                for (name, isFile) in names {
                    let path = isFile && folder != "/" ? "\(folder)/\(name)" : Self.realPath("\(place.path)/\(name)")
                    if found[path] == nil { found[path] = Candidate(path, in: place, isNamed: false) }
                }
            } else if place.path.hasSuffix(".so") || access(place.path, F_OK) == 0 {
                let path = Self.realPath(place.path)
                found[path] = Candidate(path, in: place, isNamed: true)
            }
        }
        return found.values.sorted { $0.path < $1.path }
    }

    /// Whether a file of this name is in one of the folders, or was named. Nothing is read.
    package func has(_ file: String) -> Bool {
        places.contains { place in
            let path = place.path.hasSuffix("/\(file)") ? place.path : "\(place.path)/\(file)"
            return access(path, F_OK) == 0
        }
    }

    /// The names of libraries in a folder, and whether each is known to be a file rather than a link to one.
    private static func libraries(in folder: String) -> [(name: String, isFile: Bool)]? {
        guard let stream = opendir(folder) else { return nil }
        defer { closedir(stream) }
        var names: [(name: String, isFile: Bool)] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasPrefix("lib"), name.hasSuffix(".so") {
                names.append((name, entry.pointee.d_type == DT_REG))
            }
        }
        return names
    }

    private static func realPath(_ path: String) -> String {
        guard let real = realpath(path, nil) else { return path }
        defer { free(real) }
        return String(validatingCString: real) ?? path
    }
}

extension PluginSearchPath.Candidate {
    fileprivate init(_ path: String, in place: PluginSearchPath.Place, isNamed: Bool) {
        self.init(path: path, origin: place.origin, isNamed: isNamed, isConfigured: place.isConfigured)
    }
}
