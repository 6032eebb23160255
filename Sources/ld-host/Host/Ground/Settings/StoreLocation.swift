internal import ByteCoding
internal import DurableFiles
internal import Glibc
package import LocalDataAPI

/// Where a store keeps its values, as far as its options determine it: their files and folders, and texts such as a
/// server's name. Numbers, choices and booleans only affect how the store works.
package struct StoreLocation: Sendable {
    package let paths: [String]
    private let texts: [String: ComponentOption.Value]

    /// - Parameter values: The options of a store, with defaults filled in.
    package init(_ options: [ComponentOption], _ values: [String: ComponentOption.Value]) {
        var paths: [String] = []
        var texts: [String: ComponentOption.Value] = [:]
        for option in options {
            switch (option.type, values[option.name]) {
            case (.path, .string(let path)): paths.append(path)
            case (.string, let value?) where option.allowed == nil: texts[option.name] = value
            case (.list, let value?): texts[option.name] = value
            default: break
            }
        }
        self.paths = paths
        self.texts = texts
    }

    /// Whether both have paths, these lead to the same files and folders, and the texts are equal. May wait.
    package func isSame(as other: StoreLocation) -> Bool {
        !paths.isEmpty && texts == other.texts && paths.map(PathIdentity.init) == other.paths.map(PathIdentity.init)
    }

    /// Whether all its files and folders are missing or empty, as a mount point without its disk is; `nil` without
    /// paths. May wait.
    package var isBare: Bool? { paths.isEmpty ? nil : paths.allSatisfy(Self.isBare) }

    /// A name that all stores of a component share whose paths lead to the same files and folders through symbolic
    /// links; it stays when a store creates them. `nil` without paths. May wait.
    package func sharedName(of component: String) -> String? {
        guard !paths.isEmpty else { return nil }
        let words = texts.sorted { $0.key < $1.key }.flatMap { [$0.key, "\($0.value)"] }
        return StableHash.text([component] + paths.map(Self.resolved) + words)
    }

    /// Whether a file or folder is missing or empty. Stores leave files of their own in a folder. May wait.
    package static func isBare(_ path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0 else { return errno == ENOENT || errno == ENOTDIR }
        guard status.st_mode & S_IFMT == S_IFDIR else { return status.st_size == 0 }
        guard let stream = opendir(path) else { return false }
        defer { closedir(stream) }
        var count = 0
        while count <= 2, readdir(stream) != nil { count += 1 }
        return count <= 2
    }

    /// A path without symbolic links, as far as it exists.
    static func resolved(_ path: String) -> String {
        var names = path.split(separator: "/").filter { $0 != "." }
        var rest: [Substring] = []
        while !names.isEmpty {
            if let found = realpath("/" + names.joined(separator: "/"), nil) {
                defer { free(found) }
                // One that is not UTF-8 would be the same as another such one.
                guard let found = String(validatingCString: found) else { return path }
                return ([found] + rest.reversed().map(String.init)).joined(separator: "/")
            }
            rest.append(names.removeLast())
        }
        return "/" + rest.reversed().joined(separator: "/")
    }
}

extension StorageNamespace {
    /// Whether a store keeps the values of both in the same folder, whatever their paths. May wait.
    package func keepsSameValues(as other: StorageNamespace) -> Bool {
        if self == other { return true }
        guard domain.hasBytes(of: other.domain), let folder = directory, let second = other.directory else {
            return false
        }
        return PathIdentity(folder) == PathIdentity(second)
    }
}
