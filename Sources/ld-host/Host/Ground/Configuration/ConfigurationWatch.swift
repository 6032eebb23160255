internal import DurableFiles
internal import FoundationEssentials
internal import LocalDataAPI
internal import Synchronization

/// Notices changes of configuration files by others than LocalData's programs of this user: editors, package managers,
/// the superuser. They show a moment later, as the system reports them; see inotify(7).
package final class ConfigurationWatch: Sendable {
    /// The watch of this process.
    package static let shared = ConfigurationWatch()

    private let folders = Mutex<[String: Folder]>([:])

    private final class Folder: Sendable {
        let names = Mutex<Set<String>>([])
        let watch = Mutex<FolderWatch?>(nil)
    }

    /// Watches files from now on, also those that are missing. A file that cannot be watched is left out: a program
    /// that cannot have more watches still learns of what LocalData's own commands change.
    ///
    /// - Returns: Whether one of them was not watched before.
    package func add(_ files: [String]) -> Bool {
        let paths = Set(files + files.compactMap { try? HostConfiguration.target(of: $0) })
        return paths.filter { $0.hasPrefix("/") && add($0) }.count > 0
    }

    private func add(_ path: String) -> Bool {
        guard let slash = path.lastIndex(of: "/") else { return false }
        let (place, name) = (String(path[..<slash]), String(path[path.index(after: slash)...]))
        let folder = folders.withLock { folders in
            if let known = folders[place] { return known }
            let new = Folder()
            folders[place] = new
            return new
        }
        guard folder.names.withLock({ $0.insert(name).inserted }) else { return false }
        folder.watch.withLock { watch in
            guard watch == nil else { return }
            watch = try? FolderWatch(place.isEmpty ? "/" : place, includesWrites: true) { _ in
                false
            } changed: { [weak folder] change in
                guard let folder else { return }
                let names = folder.names.withLock { $0 }
                let changed: Set<String> =
                    switch change {
                    case .file(_, let name): names.intersection([String(decoding: name, as: UTF8.self)])
                    case .anything: names
                    }
                for name in changed { ConfigurationPage.ofUser.noteSeen("\(place)/\(name)") }
            }
        }
        return true
    }
}
