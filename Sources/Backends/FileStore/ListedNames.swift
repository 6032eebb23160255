import DurableFiles
import Glibc
import LocalDataAPI
import Synchronization

/// Lists names in order, page by page, without listing the folder again for each page. Names that were found beyond a
/// page are kept for the next one, as long as nothing in the listed folders has changed. They belong to the last listed
/// namespace.
final class ListedNames: Sendable {
    /// The most folders to check for changes. Only long names have folders of their own.
    private static let mostFolders = 64

    private struct Kept {
        let path: [UInt8]
        let prefix: String
        /// All names come after this one.
        let after: [UInt8]
        let names: NameList
        /// Whether there are none after the last.
        let isComplete: Bool
        let folders: [(path: RelativePath?, status: FileStatus)]

        /// Whether these names include those of a path with a prefix, from some name on.
        func covers(_ path: [UInt8], _ prefix: String, _ after: [UInt8]) -> Bool {
            self.path == path && self.prefix.utf8.elementsEqual(prefix.utf8)
                && !after.lexicographicallyPrecedes(self.after)
        }

        /// The names after one, up to the limit; `nil` if some may be missing.
        func page(after: [UInt8], limit: Int) -> [String]? {
            var (start, end) = (0, names.count)
            while start < end {
                let middle = (start + end) / 2
                if after.lexicographicallyPrecedes(names[middle]) { end = middle } else { start = middle + 1 }
            }
            let page = names.texts(start..<min(names.count, start + limit))
            return isComplete || page.count == limit ? page : nil
        }
    }

    private let kept = Mutex<Kept?>(nil)

    /// The names of the values below a folder, ascending.
    ///
    /// - Parameter links: Whether to give symbolic links, too; see ``ValueListing/givesLinks``.
    /// - Throws: What the listing throws.
    func names(
        in directory: DurableDirectory, links: Bool, prefix: String, after: String?, limit: Int?
    ) throws -> [String] {
        let path = Array(directory.path.utf8)
        // The caller of a first page may not want another.
        guard let limit, limit > 0, let after else {
            return try page(NamePage(prefix: prefix, after: after, limit: limit), in: directory, links).names.texts()
        }
        let first = Array(after.utf8)
        // Taken out during the listing, so that two threads that list at once do not block each other.
        if let kept = kept.withLock({ $0.take() }), kept.covers(path, prefix, first),
            let page = kept.page(after: first, limit: limit), try isUnchanged(kept.folders, in: directory)
        {
            // A partial page ends the pass.
            if page.count == limit { self.kept.withLock { $0 = kept } }
            return page
        }
        let found = try page(
            NamePage(prefix: prefix, after: after, limit: limit, isAhead: true), in: directory, links)
        if let folders = found.folders, found.names.count > limit {
            let new = Kept(
                path: path, prefix: prefix, after: first, names: found.names, isComplete: found.isComplete,
                folders: folders)
            kept.withLock { $0 = new }
        }
        return found.names.texts(0..<min(limit, found.names.count))
    }

    /// - Returns: The status of the listed folders before the listing; `nil` if changes of them might go unnoticed.
    private func page(
        _ asked: NamePage, in directory: DurableDirectory, _ givesLinks: Bool
    ) throws -> (names: NameList, isComplete: Bool, folders: [(path: RelativePath?, status: FileStatus)]?) {
        var page = asked
        var folders: [(path: RelativePath?, status: FileStatus)]? = []
        let listing = ValueListing(directory: directory, givesLinks: givesLinks) { path in
            guard let count = folders?.count, count < Self.mostFolders,
                let status = try directory.tellingStatus(of: path)
            else { return folders = nil }
            folders?.append((path, status))
        }
        _ = try listing.forEachName {
            page.insert($0)
            return true
        }
        return (page.sorted(), page.isComplete, folders)
    }

    private func isUnchanged(
        _ folders: [(path: RelativePath?, status: FileStatus)], in directory: DurableDirectory
    ) throws -> Bool {
        try folders.allSatisfy { path, status in
            try directory.tellingStatus(of: path)?.isUnchanged(since: status) == true
        }
    }
}

/// Names one behind the other in memory, as a folder may have millions.
struct NameList {
    private var bytes: [UInt8] = []
    private var places: [(start: UInt32, length: UInt32)] = []

    var count: Int { places.count }

    /// How many bytes of memory they take.
    var size: Int { bytes.count + places.count * 8 }

    subscript(index: Int) -> ArraySlice<UInt8> { Self.name(bytes, places[index]) }

    private static func name(_ bytes: [UInt8], _ place: (start: UInt32, length: UInt32)) -> ArraySlice<UInt8> {
        bytes[Int(place.start)..<Int(place.start) + Int(place.length)]
    }

    /// Names as texts.
    func texts(_ range: Range<Int>? = nil) -> [String] {
        (range ?? 0..<count).map { String(decoding: self[$0], as: UTF8.self) }
    }

    mutating func append(_ name: some Sequence<UInt8>) {
        let start = bytes.count
        bytes.append(contentsOf: name)
        places.append((UInt32(start), UInt32(bytes.count - start)))
    }

    /// The names in the order of their bytes, each once, up to the first before which `body` returns `false`.
    func sorted(while body: (_ kept: NameList) -> Bool) -> NameList {
        let order = places.sorted { Self.name(bytes, $0).lexicographicallyPrecedes(Self.name(bytes, $1)) }
        var kept = NameList()
        for place in order {
            let name = Self.name(bytes, place)
            if kept.count > 0, kept[kept.count - 1] == name { continue }
            guard body(kept) else { break }
            kept.append(name)
        }
        return kept
    }
}

/// The smallest names of a listing, by their UTF-8 bytes, each once. Holds at most twice as many as it keeps.
struct NamePage {
    /// The most memory for names beyond the requested ones: a pass over more lists the folder again for each of them.
    private static let most = 16 << 20

    private let wanted: Int
    private var limit: Int
    private let prefix: [UInt8]
    private let after: [UInt8]?
    private var names = NameList()
    /// Names from this one on are not among the smallest.
    private var bound: [UInt8]?
    /// Whether every name with the prefix and after the first one was kept.
    private(set) var isComplete = true

    /// Requests at most `limit` names that start with `prefix` and sort after `after`.
    ///
    /// - Parameter isAhead: Whether to keep more if there is memory for them.
    init(prefix: String, after: String?, limit: Int?, isAhead: Bool = false) {
        wanted = max(0, limit ?? .max)
        self.limit = isAhead ? .max : wanted
        self.prefix = Array(prefix.utf8)
        self.after = after.map { Array($0.utf8) }
    }

    /// Adds a name if it is requested.
    mutating func insert(_ name: String) {
        let bytes = name.utf8
        guard limit > 0, bytes.starts(with: prefix) else { return }
        if let after, !after.lexicographicallyPrecedes(bytes) { return }
        if let bound, !bytes.lexicographicallyPrecedes(bound) {
            isComplete = isComplete && bytes.elementsEqual(bound)
            return
        }
        names.append(bytes)
        let isFull = limit < .max / 2 && names.count >= 2 * limit
        if isFull || limit > wanted && names.size > 2 * Self.most { shrink() }
    }

    /// The names in order.
    mutating func sorted() -> NameList {
        shrink()
        return names
    }

    private mutating func shrink() {
        var isWhole = true
        names = names.sorted { kept in
            isWhole = kept.count < limit && (kept.count < wanted || kept.size < Self.most)
            return isWhole
        }
        if !isWhole { (isComplete, limit) = (false, names.count) }
        if names.count == limit, limit > 0 { bound = Array(names[limit - 1]) }
    }
}

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
