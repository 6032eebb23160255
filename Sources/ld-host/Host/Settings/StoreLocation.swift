internal import DurableFiles
internal import LocalDataAPI

/// Where a store keeps its values, as far as its options say: the files and folders that they name, and texts such as
/// the name of a server. Numbers, choices and truth values are about how it works.
struct StoreLocation: Sendable {
    private let paths: [String]
    private let texts: [String: ComponentOption.Value]

    /// - Parameter values: The options of a store, with defaults filled in.
    init(_ options: [ComponentOption], _ values: [String: ComponentOption.Value]) {
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

    /// Whether both have paths, which lead to the same files and folders, and the same texts. May wait.
    func isSame(as other: StoreLocation) -> Bool {
        !paths.isEmpty && texts == other.texts && paths.map(PathIdentity.init) == other.paths.map(PathIdentity.init)
    }
}

extension StorageNamespace {
    /// Whether a store keeps the values of both in the same place, whatever the paths of the two. May wait.
    func keepsSameValues(as other: StorageNamespace) -> Bool {
        if self == other { return true }
        guard domain.utf8.elementsEqual(other.domain.utf8), let folder = directory, let second = other.directory else {
            return false
        }
        return PathIdentity(folder) == PathIdentity(second)
    }
}
