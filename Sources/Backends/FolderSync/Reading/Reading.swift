import DurableFiles
import FoundationEssentials
import LocalDataAPI

/// One fetch: what each writer's folder has, and how far it has been read.
final class Reading {
    private struct WriterState {
        let writer: String
        var segments: WriterSegments
        /// How far segments are known.
        var known: [SegmentName: Int]
        /// Whether it was read; if not, its part of the position stays.
        var isRead = false
    }

    private let folder: SharedFolder
    private let headers: HeaderCache
    private let entries: [Position.Entry]
    private var states: [WriterState] = []
    /// What could not be read; it is left for a later fetch.
    private(set) var problems: [String] = []
    /// The writers of segments that are damaged.
    private(set) var damaged: Set<String> = []

    init(_ folder: SharedFolder, _ headers: HeaderCache, _ entries: [Position.Entry]) {
        (self.folder, self.headers, self.entries) = (folder, headers, entries)
    }

    /// Looks at all writers.
    ///
    /// - Throws: `StorageError` if the folder cannot be listed.
    func list() throws {
        for writer in try folder.writers() {
            guard let segments = try attempt(writer, { try WriterSegments(writer, in: $0, headers) }) else { continue }
            let tag = Position.tag(of: writer)
            let known = entries.filter { $0.writer == tag }.map { ($0.name, $0.offset) }
            states.append(
                WriterState(writer: writer, segments: segments, known: Dictionary(known) { max($0, $1) }))
        }
    }

    /// Why the folder does not have what the position says was read; `nil` if it has.
    func lostPart() throws -> String? {
        if !problems.isEmpty { return nil }
        for entry in entries {
            let segments = states.filter { Position.tag(of: $0.writer) == entry.writer }.map(\.segments)
            guard segments.contains(where: { !$0.hasLost(entry.name) }) else {
                return "the segment '\(entry.name)' is gone"
            }
            guard try !segments.contains(where: { try $0.isCutOff(entry.name, before: entry.offset) }) else {
                return "the segment '\(entry.name)' is shorter than it was"
            }
        }
        return nil
    }

    /// Passes records to `body` until it returns `false`.
    func read(_ body: (SyncRecord) throws -> Bool) throws {
        for index in states.indices {
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
    var position: Position {
        var found: Set<Position.Entry> = []
        for state in states where state.isRead {
            let tag = Position.tag(of: state.writer)
            for (name, offset) in state.segments.frontier(of: state.known) {
                found.insert(Position.Entry(writer: tag, name: name, offset: offset))
            }
        }
        // Those of writers that were not read now.
        let read = Set(states.filter(\.isRead).map { Position.tag(of: $0.writer) })
        found.formUnion(entries.filter { !read.contains($0.writer) })
        return Position(entries: found.sorted { ($0.writer, $0.name) < ($1.writer, $1.name) })
    }

    private static let attempts = 8
}
