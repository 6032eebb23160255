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

/// The folders that every app has.
public enum StandardFolder: String, Hashable, Sendable, CaseIterable {
    /// Data that the user would miss.
    case documents
    /// Data that the app can recreate.
    case caches
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

extension StandardFolder {
    /// A folder as the scope of a namespace has it: `[APP:]FOLDER[/SUB-DIRECTORY]`.
    package struct Location: Hashable, Sendable {
        /// The app; `nil` if the scope has none.
        package let app: String?
        package let folder: StandardFolder
        package let subDirectory: String?

        /// - Parameter app: Empty for the data of no app.
        package init(_ folder: StandardFolder, of app: String, subDirectory: String?) {
            self.app = app.isEmpty ? nil : app
            self.folder = folder
            self.subDirectory = subDirectory
        }

        /// `nil` if the scope is no such folder.
        package init?(scope: String) {
            let parts = scope.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            app = parts.count > 1 ? String(parts[0]) : nil
            let path = parts[parts.count - 1].split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
            guard let folder = StandardFolder(rawValue: String(path[0])), app.map({ !$0.contains("/") }) ?? true else {
                return nil
            }
            self.folder = folder
            subDirectory = path.count > 1 ? String(path[1]) : nil
        }

        /// The scope of the namespace, in which no app has no name.
        package var scope: String {
            let owner = app.flatMap { $0.isEmpty ? nil : "\($0):" } ?? ""
            return owner + folder.rawValue + (subDirectory.map { "/\($0)" } ?? "")
        }
    }
}
