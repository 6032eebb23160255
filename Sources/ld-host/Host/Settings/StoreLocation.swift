internal import DurableFiles
internal import LocalDataAPI

/// Where a store keeps its values, as far as its options determine it: their files and folders, and texts such as a
/// server's name. Numbers, choices and booleans only affect how the store works.
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

    /// Whether both have paths, these lead to the same files and folders, and the texts are equal. May wait.
    func isSame(as other: StoreLocation) -> Bool {
        !paths.isEmpty && texts == other.texts && paths.map(PathIdentity.init) == other.paths.map(PathIdentity.init)
    }
}

extension StorageNamespace {
    /// Whether a store keeps the values of both in the same folder, whatever their paths. May wait.
    func keepsSameValues(as other: StorageNamespace) -> Bool {
        if self == other { return true }
        guard domain.utf8.elementsEqual(other.domain.utf8), let folder = directory, let second = other.directory else {
            return false
        }
        return PathIdentity(folder) == PathIdentity(second)
    }
}
