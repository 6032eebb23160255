import Glibc
internal import HostGround
internal import LocalDataAPI

/// The check of the libraries that ld.so loads with a plugin: those that it needs, and those that they need.
struct LibrarySearch {
    private var passed = FileTrust.PassedFolders()
    /// The libraries that were checked, by their real paths.
    private var seen: Set<String> = []

    /// - Parameters:
    ///   - path: The library, as ld.so opens it.
    ///   - inherited: The run paths of those that need it, in which ld.so may look, too.
    mutating func check(_ libraries: ELFImage.Libraries, of path: String, inherited: [String] = []) throws {
        let origin = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "/"
        var folders: [String] = []
        for entry in libraries.runPath {
            let finding = "looks for libraries in '\(entry)'"
            let folder = try absolute(entry, origin, finding, of: path)
            try trusting(finding, of: path) {
                try FileTrust.requireSameForAll(folder)
                try FileTrust.checkFolder(folder, passing: &passed)
            }
            folders.append(folder)
        }
        for name in libraries.needed {
            let finding = "needs the library '\(name)'"
            let files =
                name.utf8.contains(UInt8(ascii: "/"))
                ? [try absolute(name, origin, finding, of: path)] : (folders + inherited).map { "\($0)/\(name)" }
            guard let file = files.first(where: { access($0, F_OK) == 0 }) else { continue }
            try trusting(finding, of: path) {
                try FileTrust.requireSameForAll(file)
                let found = try FileTrust.check(file, passing: &passed)
                guard seen.insert(found.path).inserted else { return }
                try check(ELFImage.libraries(of: found), of: file, inherited: folders + inherited)
            }
        }
    }

    /// An entry with `$ORIGIN` replaced by the library's own folder.
    private func absolute(_ entry: String, _ origin: String, _ finding: String, of path: String) throws -> String {
        for token in ["$ORIGIN", "${ORIGIN}"] where entry == token || entry.hasPrefix("\(token)/") {
            return try absolute("\(origin)\(entry.dropFirst(token.count))", origin, finding, of: path)
        }
        guard entry.hasPrefix("/"), !entry.utf8.contains(UInt8(ascii: "$")) else {
            throw StorageError.refusing(
                path, "\(PathText.shown(finding)), expected an absolute path or one that begins with $ORIGIN",
                hint: "link the plugin with -rpath '$ORIGIN' or without a run path")
        }
        return entry
    }

    private func trusting(_ finding: String, of path: String, _ check: () throws -> Void) throws {
        do { try check() } catch let error as StorageError {
            throw StorageError.refusing(path, "\(PathText.shown(finding)): \(error.message)", hint: error.hint)
        }
    }
}
