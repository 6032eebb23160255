#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The folder that a file-system domain keeps its values in.
public enum FileDirectory: Hashable, Sendable {
    /// This app's data that the user would miss: below `$XDG_DATA_HOME`. For an app group, the group's.
    case documents
    /// This app's data that it can recreate: below `$XDG_CACHE_HOME`, where cleaners may delete it. For an app group,
    /// the group's.
    case caches
    /// A folder of your choice, by an absolute file URL. All apps that name it share it.
    case custom(URL)
    /// A folder of the app with this identifier: see ``documents(of:)`` and ``caches(of:)``.
    case standard(StandardFolder, of: String)

    /// The documents of another app, by its identifier; of no app if that is empty.
    public static func documents(of app: String) -> FileDirectory { .standard(.documents, of: app) }

    /// The caches of another app, by its identifier; of no app if that is empty.
    public static func caches(of app: String) -> FileDirectory { .standard(.caches, of: app) }
}

extension FileDirectory {
    /// The folder's part of an address: `documents`, `caches`, `APP:documents`, `APP:caches`, or the absolute path.
    package var scope: String {
        switch self {
        case .documents: "documents"
        case .caches: "caches"
        case .custom(let url): url.path(percentEncoded: false)
        case .standard(let folder, let app): "\(app):\(folder.rawValue)"
        }
    }

    /// The folder of an app, where this one is that of the app that uses it.
    func ofApp(_ app: String) -> FileDirectory {
        switch self {
        case .documents: .documents(of: app)
        case .caches: .caches(of: app)
        case .custom, .standard: self
        }
    }

    /// The folder with this scope; `nil` if the scope names none. An app's identifier alone is its documents, unless it
    /// looks like a mistyped folder.
    package init?(scope: String) {
        if scope.hasPrefix("/") {
            self = .custom(URL(filePath: scope))
        } else if let location = StandardFolder.Location(scope: scope) {
            guard location.subDirectory == nil else { return nil }
            switch (location.app, location.folder) {
            case (nil, .documents): self = .documents
            case (nil, .caches): self = .caches
            case (let app?, let folder): self = .standard(folder, of: app)
            }
        } else {
            let folders = StandardFolder.allCases.map(\.rawValue)
            guard AppIdentifier.isValid(scope),
                EditDistance.nearest(to: scope.lowercased(), in: folders, within: 2) == nil
            else { return nil }
            self = .documents(of: scope)
        }
    }
}
