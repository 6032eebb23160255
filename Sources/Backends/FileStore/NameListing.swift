import DurableFiles
import Glibc
import LocalDataPluginAPI
import Synchronization

/// Lists names in order, page by page, without listing the folder again for each page. Names that were found beyond a
/// page are kept for the next one, as long as nothing in the listed folders has changed. They belong to the last listed
/// namespace.
final class NameListing: Sendable {
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
