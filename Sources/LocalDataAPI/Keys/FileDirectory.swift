public import FoundationEssentials

/// The folder that a file-system domain keeps its values in.
public enum FileDirectory: Hashable, Sendable {
    /// Data that the user would miss: below `$XDG_DATA_HOME`.
    case documents
    /// Data that the app can recreate: below `$XDG_CACHE_HOME`, where cleaners may delete it.
    case caches
    /// A folder of the app's own, by an absolute file URL.
    case custom(URL)
}

extension FileDirectory {
    /// The folder's part of an address: `documents`, `caches`, or the absolute path.
    package var scope: String {
        switch self {
        case .documents: "documents"
        case .caches: "caches"
        case .custom(let url): url.path(percentEncoded: false)
        }
    }

    /// The folder with this scope; `nil` if the scope names none.
    package init?(scope: String) {
        switch scope {
        case "documents": self = .documents
        case "caches": self = .caches
        default:
            guard scope.hasPrefix("/") else { return nil }
            self = .custom(URL(filePath: scope))
        }
    }
}
