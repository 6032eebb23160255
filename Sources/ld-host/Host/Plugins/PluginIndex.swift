internal import FoundationEssentials
internal import Glibc
internal import LocalDataAPI
internal import Synchronization

/// The results of earlier inspections, cached in a file so that the next program start need not inspect again.
///
/// An entry is valid only for the very same file (device, inode, size, times). If the index cannot be read or written,
/// plugins are inspected again. Refusals are kept with their reason.
final class PluginIndex: Sendable {
    private struct Entry: Codable {
        let identity: [Int64]
        let report: PluginInspector.Report
        /// The time limit in seconds that ended the inspection, if one did; a longer limit may give another result.
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

    /// - Parameter folder: The folder of `plugins.json`; it need not exist.
    init(folder: String) { self.folder = folder }

    /// The result of an earlier inspection of this very file, unless it was cut short and there is more time now.
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

    /// Records a result, and the time limit if that ended the inspection.
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

    /// Writes the changes. A failure is harmless: the plugins are inspected again.
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
