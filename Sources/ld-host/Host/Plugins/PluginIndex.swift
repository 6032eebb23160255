internal import FoundationEssentials
internal import Glibc
internal import LocalDataAPI
internal import Synchronization

/// What is known of plugins from earlier inspections, kept in a file so that each program start need not look again.
///
/// An entry counts only while the file is the very same (device, inode, size, times); a file that cannot be read or
/// written only costs the inspections. Refusals are kept with their reason, never without.
final class PluginIndex: Sendable {
    private struct Entry: Codable {
        let identity: [Int64]
        let report: PluginInspector.Report
        /// How long, in seconds, the look could take at most if it was ended by that; a longer one may tell more.
        let waited: Double?
    }

    private struct Contents: Codable {
        var format = 2
        var host = HostVersion.current
        var plugins: [String: Entry] = [:]
    }

    private struct State {
        var contents: Contents?
        var isChanged = false
    }

    private let folder: String
    private let state = Mutex(State())

    /// - Parameter folder: The folder for `plugins.json`; it need not exist.
    init(folder: String) { self.folder = folder }

    /// The result of an earlier look at this very file, unless it was cut short and there is more time now.
    func result(for file: TrustedPath, timeout: Duration) -> Result<PluginDescription, StorageError>? {
        state.withLock { state in
            let contents = state.contents ?? read()
            state.contents = contents
            guard let entry = contents.plugins[file.path], entry.identity == file.identity.numbers else { return nil }
            if let waited = entry.waited, timeout > .seconds(waited) { return nil }
            if let description = entry.report.description { return .success(description) }
            return entry.report.refusal.map {
                .failure(StorageError(StorageError.Code(rawValue: $0.code), $0.message, hint: $0.hint))
            }
        }
    }

    /// Remembers a result, and the time-out if that ended the look.
    func remember(
        _ result: Result<PluginDescription, StorageError>, for file: TrustedPath, cutShortAfter timeout: Duration?
    ) {
        state.withLock { state in
            var contents = state.contents ?? read()
            contents.plugins[file.path] = Entry(
                identity: file.identity.numbers, report: .init(result), waited: timeout.map { $0 / .seconds(1) })
            state.contents = contents
            state.isChanged = true
        }
    }

    /// Writes what has changed. Failing to is fine: it will be found out again.
    func save(keeping paths: Set<String>) {
        let data: Data? = state.withLock { state in
            guard state.isChanged, var contents = state.contents else { return nil }
            state.isChanged = false
            contents.plugins = contents.plugins.filter { paths.contains($0.key) }
            return try? JSONEncoder().encode(contents)
        }
        guard let data else { return }
        try? HostFile.write(data, to: "\(folder)/plugins.json")
    }

    private func read() -> Contents {
        guard let data = HostFile.contents(of: "\(folder)/plugins.json", ownedByUser: true, limit: 16 << 20),
            let contents = try? JSONDecoder().decode(Contents.self, from: data),
            contents.format == 2, contents.host == HostVersion.current
        else { return Contents() }
        return contents
    }
}

extension FileIdentity {
    fileprivate var numbers: [Int64] {
        [Int64(bitPattern: device), Int64(bitPattern: inode), size, modified, changed]
    }
}
