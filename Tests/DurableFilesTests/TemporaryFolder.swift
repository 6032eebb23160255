import FoundationEssentials

/// A folder that is removed with its owner.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.path() + "localdata-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The names in a folder below this one, hidden ones too, sorted.
    func entries(_ folder: String = "") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "\(path)/\(folder)").sorted()
    }

    func content(_ file: String) -> [UInt8]? { FileManager.default.contents(atPath: "\(path)/\(file)").map(Array.init) }

    func exists(_ file: String) -> Bool { FileManager.default.fileExists(atPath: "\(path)/\(file)") }
}

extension TemporaryFolder {
    /// The paths of everything but folders below this one, sorted.
    func files() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: path).filter {
            var isFolder: Bool = false
            return FileManager.default.fileExists(atPath: "\(path)/\($0)", isDirectory: &isFolder) && !isFolder
        }.sorted()
    }

    static func makeFolder(_ path: String) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }
}
