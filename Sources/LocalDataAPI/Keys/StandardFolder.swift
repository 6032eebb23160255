/// The folders that every app has.
public enum StandardFolder: String, Hashable, Sendable, CaseIterable {
    /// Data that the user would miss.
    case documents
    /// Data that the app can recreate.
    case caches
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
