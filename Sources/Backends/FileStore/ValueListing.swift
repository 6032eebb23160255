import DurableFiles

/// Lists the folders of a store. Entries without a canonical spelling do not belong to the store and are left out.
struct ValueListing {
    let directory: DurableDirectory
    /// Called with the path of each folder before its names are listed.
    var begins: ((RelativePath?) throws -> Void)?

    /// Passes the names of the values below a folder, in no order, until `body` returns `false`; then returns `false`.
    func forEachName(in path: [[UInt8]] = [], _ body: (String) throws -> Bool) throws -> Bool {
        try forEachName(in: path, folders: [], body)
    }

    /// Passes every folder of a namespace, with its path, until `body` returns `false`; then returns `false`.
    func forEachPlaceFolder(
        folders: [[UInt8]] = [], _ body: (_ folders: [[UInt8]], _ last: [UInt8]) throws -> Bool
    ) throws -> Bool {
        var goesOn = true
        try directory.forEachEntry(in: path(folders.map(marked))) { name, kind in
            guard kind == .directory else { return true }
            if let piece = unmarked(name, after: folders) {
                goesOn = try forEachPlaceFolder(folders: folders + [piece], body)
            } else {
                goesOn = try body(folders, name)
            }
            return goesOn
        }
        return goesOn
    }

    private func forEachName(
        in place: [[UInt8]], folders: [[UInt8]], _ body: (String) throws -> Bool
    ) throws -> Bool {
        var goesOn = true
        let path = path(place + folders.map(marked))
        try begins?(path)
        try directory.forEachEntry(in: path) { entry, kind in
            if kind == .directory, let piece = unmarked(entry, after: folders) {
                goesOn = try forEachName(in: place, folders: folders + [piece], body)
            } else if kind == .regular, let name = FileName.name(folders: folders, file: entry) {
                goesOn = try body(name)
            }
            return goesOn
        }
        return goesOn
    }

    private func path(_ pieces: [[UInt8]]) -> RelativePath? { pieces.isEmpty ? nil : RelativePath(pieces: pieces) }

    private func marked(_ piece: [UInt8]) -> [UInt8] { piece + [FileName.folderMark] }

    /// The piece of a name that a folder stands for. 1,024 bytes and a domain need 14 pieces; deeper folders are not
    /// searched.
    private func unmarked(_ name: [UInt8], after folders: [[UInt8]]) -> [UInt8]? {
        name.last == FileName.folderMark && folders.count < 16 ? name.dropLast() : nil
    }
}
