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

    /// The bytes of a file.
    func content(_ file: String) -> Data? { FileManager.default.contents(atPath: "\(path)/\(file)") }

    func write(_ content: Data, to file: String) throws { try content.write(to: URL(filePath: "\(path)/\(file)")) }

    /// The mode of a file or folder, without its kind.
    func mode(_ file: String) throws -> Int {
        let mode = try FileManager.default.attributesOfItem(atPath: "\(path)/\(file)")[.posixPermissions]
        return (mode as? Int ?? -1) & 0o7777
    }
}
