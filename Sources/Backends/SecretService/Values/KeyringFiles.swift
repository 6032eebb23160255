internal import FoundationEssentials
internal import Glibc

/// The files of gnome-keyring's collections.
enum KeyringFiles {
    /// Whether any of this user's collections has no password. Its file is then a plain key file. gnome-keyring 42
    /// writes secrets into it without escapes but reads them with escapes: after its next start, `\n` in a secret is a
    /// newline, and leading spaces are gone.
    static var someAreReadable: Bool {
        let folder = "\(dataFolder)/keyrings"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.contains { $0.hasSuffix(".keyring") && isPlain("\(folder)/\($0)") }
    }

    private static var dataFolder: String {
        let environment = ProcessInfo.processInfo.environment
        if let folder = environment["XDG_DATA_HOME"], folder.hasPrefix("/") { return folder }
        return "\(environment["HOME"] ?? "")/.local/share"
    }

    private static func isPlain(_ path: String) -> Bool {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { return false }
        defer { close(file) }
        var start: [UInt8] = Array(repeating: 0, count: 9)
        return read(file, &start, start.count) == start.count && start == Array("[keyring]".utf8)
    }
}
