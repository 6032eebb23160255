internal import DurableFiles
internal import HostGround
internal import HostSealing
package import LocalDataAPI

/// The folders outside of the host's own that a user has named, so that a file of somebody else may bring values for
/// them.
package struct NamedFolders: Sendable {
    private let paths: [String]
    private let found: Set<PathIdentity>

    /// No folder.
    package static let none = NamedFolders()

    private init() { (paths, found) = ([], []) }

    /// May wait for the disk.
    ///
    /// - Parameter paths: Absolute paths.
    /// - Throws: `invalidAddress` for another path.
    package init(_ paths: [String]) throws(StorageError) {
        for path in paths where !path.hasPrefix("/") || path.utf8.contains(0) {
            throw StorageError(
                .invalidAddress, "the folder '\(path)' is not an absolute path", hint: "name it from the root on")
        }
        self.paths = paths.map(HostSettings.normalized)
        found = Set(self.paths.map(PathIdentity.init))
    }

    /// Whether a folder is one of them, by this path or another one. The folders in it are not. May wait for the disk.
    package func contains(_ folder: String) -> Bool {
        paths.contains { $0.hasBytes(of: folder) } || !found.isEmpty && found.contains(PathIdentity(folder))
    }
}

extension StorageNamespace {
    /// The folder outside of the host's own that its values are kept in or beside, as addresses have it; `nil` for the
    /// host's own.
    package var chosenFolder: String? { directory != nil && scope.utf8.first == UInt8(ascii: "/") ? scope : nil }
}

extension RouterSnapshot {
    /// The folder that a value at an address would be written to although neither the host nor this user has chosen it;
    /// `nil` if one of them has. May wait.
    ///
    /// The user has chosen the folder of a key that a catalog names, and one in which the user's own key rings have
    /// sealed values. The latter does not hold for plain files, which other programs read.
    ///
    /// - Parameters:
    ///   - open: The store that serves the domain.
    ///   - named: The folders that the user names now.
    package func unnamedFolder(
        of address: StorageAddress, in open: OpenStore, besides named: NamedFolders
    ) throws(StorageError) -> String? {
        guard let folder = address.place.chosenFolder, !named.contains(folder), !isCatalogued(address) else {
            return nil
        }
        guard open.sealing != nil || !isSharedFolder(address.place, in: open) else { return folder }
        var states = [try open.sealing?.ring.state()]
        if settings.routes["keychain"] != nil {
            for ring in [try rings.ring(named: rings.current)] + (try rings.earlier()) {
                states.append(try ring.state())
            }
        }
        let isRecorded = states.contains { state in
            state?.places.contains { $0.identity == open.identity && $0.namespace == address.place } == true
        }
        return isRecorded ? nil : folder
    }
}

/// Folders that a file has values for, and that nobody has named.
package struct UnnamedFolders: Sendable {
    /// Each folder, with the number of its values and the address of one of them.
    fileprivate private(set) var values: [String: (count: Int, address: String)] = [:]

    package init() {}

    package var isEmpty: Bool { values.isEmpty }

    package mutating func add(_ folder: String, _ address: String) {
        values[folder, default: (0, address)].count += 1
    }
}

extension StorageError {
    /// The refusal to write to folders that the user has not named.
    ///
    /// - Parameters:
    ///   - what: What has values for them, e.g. `the backup '/home/ann/all'`.
    ///   - ending: What has become of the operation, e.g. `nothing was restored`.
    package static func unnamedFolders(
        _ found: UnnamedFolders, of what: String, _ ending: String
    ) -> StorageError {
        let folders = found.values.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        let text = folders.map { folder, values in
            "'\(PathText.shown(folder))' (\(values.count.counted("value")), e.g. '\(values.address)')"
        }
        let options = folders.map { "--folder \(PathText.shellQuoted($0.key))" }
        return StorageError(
            .securityApplicationFailed,
            "\(what) has values for \(folders.count == 1 ? "a folder" : "folders") outside of LocalData's own that you have "
                + "not named: \(text.joined(separator: ", ")); \(ending)",
            hint: "only if you want them there: \(options.joined(separator: " "))")
    }
}
