import DurableFiles
import LocalDataPluginAPI

/// The spelling of a namespace as a folder below a store's root: `<domain>`, or `<domain>@<scope>`.
///
/// The scope is encoded like a file's name, and a long one is split in the same way. The domain stays readable: its
/// upper case is kept, so two domains that differ only in case need a case-sensitive file system.
enum PlaceName {
    /// The names of the folders from the root.
    static func folders(of place: StorageNamespace, in root: DurableDirectory) throws(StorageError) -> [String] {
        func spelling(_ room: FileName.Room) -> FileName {
            Self.spelling(domain: place.domain.utf8, scope: place.scope.utf8, for: room)
        }
        var found = spelling(.usual)
        if found.dependsOnRoom { found = try found.fitting(root, or: spelling(.small)) { root.hasFolder($0.path) } }
        return found.entries.map { String(decoding: $0, as: UTF8.self) }
    }

    /// The namespace with this spelling; `nil` for any other folder.
    static func place(folders: [[UInt8]], last: [UInt8]) -> StorageNamespace? {
        let pieces = folders + [last]
        let parts = pieces.joined().split(separator: at, maxSplits: 1, omittingEmptySubsequences: false)
        guard let domain = FileName.decode(Array(parts[0])), !domain.isEmpty else { return nil }
        var scope: [UInt8] = []
        if parts.count > 1 {
            guard let decoded = FileName.decode(Array(parts[1])), !decoded.isEmpty else { return nil }
            scope = decoded
        }
        guard [.usual, .small].contains(where: { spelling(domain: domain, scope: scope, for: $0).pieces == pieces }),
            let domain = String(validating: domain, as: UTF8.self),
            let scope = String(validating: scope, as: UTF8.self)
        else { return nil }
        return StorageNamespace(domain: domain, scope: scope)
    }

    private static func spelling(
        domain: some Collection<UInt8>, scope: some Collection<UInt8>, for room: FileName.Room
    ) -> FileName {
        var encoded = FileName.encode(domain) {
            FileName.isKept($0) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0)
        }
        if !scope.isEmpty { encoded += [at] + FileName.encode(scope, isKept: FileName.isKept) }
        return FileName(encoded: encoded, for: room)
    }

    private static let at = UInt8(ascii: "@")
}
