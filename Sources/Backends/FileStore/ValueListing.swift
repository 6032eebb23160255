import DurableFiles
import Glibc
import LocalDataPluginAPI

/// Lists the folders of a store. Entries without a canonical spelling do not belong to the store and are left out, and
/// so is the database that the SQLite store keeps in a folder.
struct ValueListing {
    let directory: DurableDirectory
    /// Whether a symbolic link in the place of a value's file counts. It cannot be read, and the error says so; left
    /// out, it would be missing from copies and backups without a word. Other programs' folders may have links.
    var givesLinks = false
    /// Called with the path of each folder before its names are listed.
    var begins: ((RelativePath?) throws -> Void)?
    /// Called for each folder below the first one that this user must not read, which is passed over then. Without it,
    /// the listing fails.
    var passesOver: ((StorageError) -> Void)?

    private func passing(_ body: () throws -> Bool) throws -> Bool {
        do { return try body() } catch let error as StorageError where error.systemError == EACCES {
            guard let passesOver else { throw error }
            passesOver(error)
            return true
        }
    }

    /// Passes the names of the values below a folder, in no order, until `body` returns `false`; then returns `false`.
    func forEachName(in path: [[UInt8]] = [], _ body: (String) throws -> Bool) throws -> Bool {
        try forEachName(in: path, folders: [], body)
    }

    /// Passes every folder of a namespace, with its path, until `body` returns `false`; then returns `false`.
    func forEachPlaceFolder(
        folders: [[UInt8]] = [], _ body: (_ folders: [[UInt8]], _ last: [UInt8]) throws -> Bool
    ) throws -> Bool {
        var continues = true
        try directory.forEachEntry(in: path(folders.map(marked))) { name, kind in
            guard kind == .directory else { return true }
            if let piece = unmarked(name, after: folders) {
                continues = try passing { try forEachPlaceFolder(folders: folders + [piece], body) }
            } else {
                continues = try passing { try body(folders, name) }
            }
            return continues
        }
        return continues
    }

    private func forEachName(
        in place: [[UInt8]], folders: [[UInt8]], _ body: (String) throws -> Bool
    ) throws -> Bool {
        var continues = true
        let path = path(place + folders.map(marked))
        try begins?(path)
        try directory.forEachEntry(in: path) { entry, kind in
            if kind == .directory, let piece = unmarked(entry, after: folders) {
                continues = try passing { try forEachName(in: place, folders: folders + [piece], body) }
            } else if kind == .regular || kind == .symbolicLink && givesLinks,
                let name = FileName.name(folders: folders, file: entry),
                !folders.isEmpty || (try? isOfDatabase(entry, in: place)) != true
            {
                continues = try body(name)
            }
            return continues
        }
        return continues
    }

    /// Whether a file belongs to the database of an SQLite store that keeps, or has kept, a namespace in the same
    /// folder. A database that was stored as a value has attributes.
    private func isOfDatabase(_ file: [UInt8], in place: [[UInt8]]) throws -> Bool {
        guard Self.databaseFiles.contains(file),
            let database = try directory.open(RelativePath(pieces: place + [Self.database])),
            try database.attribute(StoredAttributes.name) == nil
        else { return false }
        var isDatabase = false
        try database.readPieces { piece in
            isDatabase = piece.withUnsafeBytes { $0.starts(with: Self.databaseHeader) }
            return false
        }
        return isDatabase
    }

    private static let database = Array("values.sqlite".utf8)
    private static let databaseFiles = Set(["", "-wal", "-shm", "-journal"].map { database + Array($0.utf8) })
    /// See <https://www.sqlite.org/fileformat.html>.
    private static let databaseHeader = Array("SQLite format 3\0".utf8)

    private func path(_ pieces: [[UInt8]]) -> RelativePath? { pieces.isEmpty ? nil : RelativePath(pieces: pieces) }

    private func marked(_ piece: [UInt8]) -> [UInt8] { piece + [FileName.folderMark] }

    /// The piece of a name that a folder stands for. 1,024 bytes and a domain need 14 pieces, or 26 small ones; deeper
    /// folders are not searched.
    private func unmarked(_ name: [UInt8], after folders: [[UInt8]]) -> [UInt8]? {
        name.last == FileName.folderMark && folders.count < 32 ? name.dropLast() : nil
    }
}
