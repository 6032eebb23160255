import DurableFiles
import FoundationEssentials
import LocalDataPluginAPI

/// One fetch: what each writer's folder has, and how far it has been read.
final class Reading {
    private struct WriterState {
        let writer: String
        var segments: WriterSegments
        /// How far segments are known.
        var known: [SegmentName: Int]
        /// Whether it was read; if not, its part of the position stays.
        var isRead = false
        /// Whether the position has no entry for it, since all of it was read long ago.
        var isQuiet = false

        var tag: UInt32 { FolderPosition.tag(of: writer) }
        /// The greatest stamp of its segments; `nil` if it has none.
        var newest: UInt64? { segments.segments.last?.name.stamp }
    }

    private let folder: SharedFolder
    private let headers: HeaderCache
    private let entries: [FolderPosition.Entry]
    private let quiet: FolderPosition.Quiet?
    private var states: [WriterState] = []
    /// What could not be read; it is left for a later fetch.
    private(set) var problems: [String] = []
    /// The writers of segments that are damaged.
    private(set) var damaged: Set<String> = []

    init(_ folder: SharedFolder, _ headers: HeaderCache, since position: FolderPosition) {
        (self.folder, self.headers) = (folder, headers)
        (entries, quiet) = (position.entries, position.quiet)
    }

    /// Looks at all writers.
    ///
    /// - Throws: `StorageError` if the folder cannot be listed.
    func list() throws {
        for writer in try folder.writers() {
            guard let segments = try attempt(writer, { try WriterSegments(writer, in: $0, headers) }) else { continue }
            let tag = FolderPosition.tag(of: writer)
            let known = entries.filter { $0.writer == tag }.map { ($0.name, $0.offset) }
            states.append(
                WriterState(writer: writer, segments: segments, known: Dictionary(known) { max($0, $1) }))
        }
        // A position after a part of a fetch can leave out only writers that come before all that were not read.
        states.sort { ($0.newest ?? 0, $0.writer) < ($1.newest ?? 0, $1.writer) }
        guard let quiet else { return }
        let named = Set(entries.map(\.writer))
        for index in states.indices where !named.contains(states[index].tag) {
            states[index].isQuiet = states[index].newest.map { $0 <= quiet.newest } ?? false
        }
    }

    /// Why the folder does not have what the position says was read; `nil` if it has.
    func lostPart() throws -> String? {
        if !problems.isEmpty { return nil }
        for entry in entries {
            let segments = states.filter { FolderPosition.tag(of: $0.writer) == entry.writer }.map(\.segments)
            guard segments.contains(where: { !$0.hasLost(entry.name) }) else {
                return "the segment '\(entry.name)' is gone"
            }
            guard try !segments.contains(where: { try $0.isCutOff(entry.name, before: entry.offset) }) else {
                return "the segment '\(entry.name)' is shorter than it was"
            }
        }
        guard let quiet else { return nil }
        let sum = try states.filter(\.isQuiet).reduce(0 as UInt64) { $0 &+ (try $1.segments.fingerprint() ?? 0) }
        return sum == quiet.fingerprints ? nil : "a device has published that had not done so for long"
    }

    /// Passes records to `body` until it returns `false`.
    func read(_ body: (SyncRecord) throws -> Bool) throws {
        for index in states.indices where !states[index].isQuiet {
            var failure: (any Error)?
            let writer = states[index].writer
            var known = states[index].known
            defer { states[index].known = known }
            var first: WriterSegments? = states[index].segments
            let isAtEnd = try attempt(writer) { directory in
                var segments = try first.take() ?? WriterSegments(writer, in: directory, headers)
                defer { states[index].segments = segments }
                return try segments.read(&known) { frame in
                    guard frame.kind == .put else { return true }
                    let record = SyncRecord(writer: writer, name: frame.nameText, content: Data(frame.content))
                    do { return try body(record) } catch {
                        failure = error
                        return false
                    }
                }
            }
            if let failure { throw failure }
            noteGaps(in: states[index].segments)
            states[index].isRead = isAtEnd != nil
            if isAtEnd == false { return }
        }
    }

    private func noteGaps(in segments: WriterSegments) {
        if !segments.damaged.isEmpty { damaged.insert(segments.writer) }
        for name in segments.damaged.union(segments.missing).sorted() {
            let state = segments.damaged.contains(name) ? "is damaged, or has not arrived whole" : "has not arrived"
            problems.append(
                "'\(folder.path)/\(segments.writer)/\(name)' \(state), so later records of device '\(segments.writer)' "
                    + "are not read; if this persists, copy the file again, or let that device sync from the start")
        }
    }

    /// Works on a writer's folder. Files may be removed meanwhile: then it tries again, a few times.
    ///
    /// - Returns: `nil` if that is not possible now; the reason is noted.
    private func attempt<Result>(
        _ writer: String, _ body: (DurableDirectory) throws -> Result
    ) throws -> Result? {
        do {
            for _ in 0..<Self.attempts {
                do { return try body(folder.subfolder(of: writer)) } catch is Vanished {}
            }
            problems.append("the files of '\(folder.path)/\(writer)' keep changing")
        } catch let error as StorageError where error.systemError != nil {
            problems.append(error.message)
        }
        return nil
    }

    /// The position that was reached.
    var position: FolderPosition {
        var found: Set<FolderPosition.Entry> = []
        for state in states where state.isRead {
            for (name, offset) in state.segments.frontier(of: state.known) {
                found.insert(FolderPosition.Entry(writer: state.tag, name: name, offset: offset))
            }
        }
        // Those of writers that were not read now.
        let read = Set(states.filter(\.isRead).map(\.tag))
        found.formUnion(entries.filter { !read.contains($0.writer) })
        let all = FolderPosition(entries: found.sorted { ($0.writer, $0.name) < ($1.writer, $1.name) }, quiet: quiet)
        return all.encoded.count <= FolderPosition.most ? all : leavingOutQuiet(all)
    }

    /// A position without the entries of the writers that have published nothing for the longest time, so that there is
    /// room for some more.
    private func leavingOutQuiet(_ all: FolderPosition) -> FolderPosition {
        let named = Set(all.entries.map(\.writer))
        let tags = Dictionary(states.map { ($0.tag, 1) }, uniquingKeysWith: +)
        // A writer that was not read would be taken for one that was.
        let first = states.filter { !$0.isQuiet && !named.contains($0.tag) }.compactMap(\.newest).min() ?? .max
        var quiet = all.quiet ?? FolderPosition.Quiet(newest: 0, fingerprints: 0)
        var left: Set<UInt32> = []
        var size = all.encoded.count
        for state in states where size > FolderPosition.most / 4 * 3 {
            guard state.isRead, tags[state.tag] == 1, let newest = state.newest, newest < first,
                let fingerprint = try? state.segments.fingerprint(ifAllIs: state.known)
            else { continue }
            left.insert(state.tag)
            quiet.newest = max(quiet.newest, newest)
            quiet.fingerprints &+= fingerprint
            size -= FolderPosition.Entry.size * all.entries.count { $0.writer == state.tag }
        }
        return left.isEmpty
            ? all : FolderPosition(entries: all.entries.filter { !left.contains($0.writer) }, quiet: quiet)
    }

    private static let attempts = 8
}
