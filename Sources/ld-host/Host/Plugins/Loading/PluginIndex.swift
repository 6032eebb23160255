internal import FoundationEssentials
internal import Glibc
internal import HostGround
internal import JSON
internal import LocalDataAPI
internal import Synchronization

/// The results of earlier inspections, cached in a file so that the next program start need not inspect again.
///
/// An entry is valid only for the very same file (device, inode, size, times). If the index cannot be read or written,
/// plugins are inspected again. Refusals are kept with their reason.
final class PluginIndex: Sendable {
    struct Entry {
        let identity: [Int64]
        let report: PluginInspector.Report
        /// The time limit in seconds that ended the inspection, if one did; a longer limit may give another result.
        let waited: Double?
    }

    struct Contents {
        static let format = 4
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
        let text: [UInt8]? = state.withLock { state in
            guard state.isChanged, var contents = state.contents else { return nil }
            state.isChanged = false
            contents.plugins = contents.plugins.filter { paths.contains($0.key) }
            return contents.text
        }
        guard let text else { return }
        try? HostFile.write(Data(text), to: "\(folder)/plugins.json")
    }

    private func read() -> Contents {
        guard let data = HostFile.contents(of: "\(folder)/plugins.json", ownedByUser: true, limit: 16 << 20),
            let contents = Contents(text: data)
        else { return Contents() }
        return contents
    }
}

extension PluginIndex.Contents {
    /// `nil` if the text is damaged, or written by another version.
    init?(text: Data) {
        guard case .object(let members)? = JSON.strict(text)?.content,
            members["format"]?.integer == Int64(Self.format), members["host"]?.string == HostVersion.current,
            case .object(let entries)? = members["plugins"]?.content
        else { return nil }
        for member in entries.members {
            guard let entry = PluginIndex.Entry(member.value) else { return nil }
            plugins[member.name] = entry
        }
    }

    var text: [UInt8] {
        let entries = plugins.map { JSONObject.Member(name: $0.key, value: $0.value.json) }
        return JSON.members([
            ("format", .number("\(Self.format)")), ("host", .string(HostVersion.current)),
            ("plugins", .object(JSONObject(members: entries))),
        ]).text
    }
}

extension PluginIndex.Entry {
    /// In seconds: a year.
    private static let longestWait = 31_536_000.0

    init?(_ json: JSON) {
        guard case .object(let members) = json.content, case .array(let numbers)? = members["identity"]?.content,
            let report = members["report"].flatMap({ PluginInspector.Report($0) })
        else { return nil }
        var waited: Double?
        if case .number(let text)? = members["waited"]?.content {
            guard let seconds = Double(text), (0...Self.longestWait).contains(seconds) else { return nil }
            waited = seconds
        }
        self.init(identity: numbers.compactMap(\.integer), report: report, waited: waited)
    }

    var json: JSON {
        .members([
            ("identity", .array(identity.map { .number("\($0)") })), ("report", report.json),
            ("waited", waited.map { .number("\($0)") }),
        ])
    }
}
