import Glibc
package import LocalDataAPI

/// A plugin file that passed every check that is possible without running its code.
package struct PluginFile: Sendable {
    /// The path to pass to `dlopen`.
    package let location: TrustedPath
    /// The file's parsed image.
    package let image: ELFImage

    /// Checks that only trusted users can change the file, that it is a whole shared library for this machine with the
    /// entry function of the host's ABI, and that nobody else can replace the libraries that it needs.
    ///
    /// - Parameters:
    ///   - path: The path as the user or the configuration wrote it.
    ///   - abiMajor: The major version of the host's plugin ABI.
    /// - Throws: `StorageError.pluginRefused`.
    package init(checking location: TrustedPath, abiMajor: Int) throws {
        self.location = location
        image = try ELFImage(location)
        try image.requireEntry(major: abiMajor)
        try image.requireTrustedLibraries()
    }
}

extension ELFImage {
    /// The libraries that ld.so loads together with this one, and where it first looks for them.
    struct Libraries {
        /// The names of the libraries that it needs.
        private(set) var needed: [String] = []
        /// The entries of DT_RPATH and DT_RUNPATH, as they are written.
        private(set) var runPath: [String] = []

        /// - Parameter string: The bytes of the string table from an offset up to the next NUL.
        init(_ reader: Reader, _ dynamic: Dynamic, string: (Int) throws -> ArraySlice<UInt8>?) throws {
            func text(_ offset: UInt64) throws -> String {
                guard let offset = Int(exactly: offset), let bytes = try string(offset),
                    let text = String(validating: bytes, as: UTF8.self)
                else { throw reader.damaged("names a library or a folder of libraries outside its own texts") }
                return text
            }
            needed = try dynamic.needed.map(text)
            for path in [dynamic.value(DT_RPATH), dynamic.value(DT_RUNPATH)].compactMap({ $0 }) {
                runPath += try text(path).split(separator: ":", omittingEmptySubsequences: false).map(String.init)
            }
        }
    }

    /// Requires that ld.so finds the needed libraries only where only root and the user can put files: no entry of the
    /// run path is empty, relative or writable by others, or another folder for each process, and the libraries found
    /// there are as safe as this one, with their own run paths.
    ///
    /// The system's folders (ld.so.conf(5)) are not checked.
    ///
    /// - Throws: `StorageError.pluginRefused` with the entry.
    package func requireTrustedLibraries() throws {
        var search = LibrarySearch()
        try search.check(libraries, of: path)
    }
}

/// The check of the libraries that ld.so loads with a plugin: those that it needs, and those that they need.
private struct LibrarySearch {
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

extension StorageError {
    /// The refusal of a plugin file: `finding` follows "plugin file /path".
    package static func refusing(_ path: String, _ finding: String, hint: String = "") -> StorageError {
        StorageError(.pluginRefused, "plugin file \(PathText.shown(path)) \(finding)", hint: hint)
    }
}
