internal import Glibc
internal import HostGround
internal import HostPlugins
internal import HostStores
internal import LocalDataAPI

/// Where this user cannot write. May wait.
extension Diagnosis {
    /// The host's folders, and the places of stores on this machine, that this user cannot make or change. What is
    /// there already may be somebody else's and meant to be read only; what is missing makes the first change fail.
    static func unwritable(_ stores: [StoreSlot], _ snapshot: RouterSnapshot) -> [Finding] {
        let folders = snapshot.settings.folders
        let own = [folders.data, folders.state].map { (subject: "a folder of LocalData", path: $0) }
        return unwritable(own + stores.flatMap(places))
    }

    /// The places of one store that cannot be made.
    static func unwritable(in slot: StoreSlot) -> [Finding] { unwritable(places(of: slot)).filter(\.isProblem) }

    private static func places(of slot: StoreSlot) -> [(subject: String, path: String)] {
        guard let open = try? slot.openIfNeeded(), open.store.properties.latency == .disk else { return [] }
        return open.location.paths.map { (subject: "store '\(open.name)'", path: $0) }
    }

    private static func unwritable(_ places: [(subject: String, path: String)]) -> [Finding] {
        var seen: Set<String> = []
        return places.compactMap { subject, path in
            guard let obstacle = Obstacle(path), seen.insert(obstacle.path).inserted else { return nil }
            let reason = StorageError.systemText(obstacle.code)
            return obstacle.path == path
                ? Finding(
                    .access, "\(subject) can be read here, and not changed: '\(path)' cannot be written to: \(reason)")
                : Finding(
                    .access,
                    "\(subject) cannot be made: '\(path)' is missing, and '\(obstacle.path)' cannot be written to: "
                        + reason,
                    hint: "\(obstacle.remedy(for: path)); or set another place",
                    isProblem: true)
        }
    }

    /// What keeps this user from making or changing a file or folder.
    private struct Obstacle {
        /// The path itself, or the first folder above it that exists.
        let path: String
        let code: Int32
        /// Whether it is this user's, who may change its mode.
        private let isOwn: Bool

        func remedy(for wanted: String) -> String {
            if code == ENOTDIR { return "move '\(path)' away" }
            return isOwn
                ? "run: chmod u+wx \(PathText.shellQuoted(path))"
                : "ask who may write there to make '\(wanted)' for you"
        }

        /// Nothing if the path can be made or changed.
        init?(_ wanted: String) {
            var existing = wanted
            while faccessat(AT_FDCWD, existing, F_OK, AT_EACCESS) != 0 {
                guard [ENOENT, ENOTDIR].contains(errno), let slash = existing.lastIndex(of: "/"), existing != "/" else {
                    return nil
                }
                existing = slash == existing.startIndex ? "/" : String(existing[..<slash])
            }
            var status = stat()
            isOwn = stat(existing, &status) == 0 && status.st_uid == geteuid()
            if existing != wanted, status.st_mode & S_IFMT != S_IFDIR {
                (path, code) = (existing, ENOTDIR)
            } else {
                guard faccessat(AT_FDCWD, existing, W_OK, AT_EACCESS) != 0 else { return nil }
                (path, code) = (existing, errno)
            }
        }
    }
}
