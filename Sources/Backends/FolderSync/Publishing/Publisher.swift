import DurableFiles
import FoundationEssentials
import Glibc
import LocalDataPluginAPI
import Synchronization

/// Publishes the records of one writer. The calls of several threads are written together, with one fdatasync(2).
///
/// A process appends to its own segments only, while it runs. It begins a new one when it starts, when the last one is
/// large enough, when a write has failed, and when another process of the same device has published meanwhile or the
/// files are not as this process left them. A lock on the writer's folder lets one process publish at a time.
final class Publisher: Sendable {
    struct Settings: Sendable {
        /// The size in bytes at which a segment is closed.
        var segment: Int
        /// How long segments stay that a base made unnecessary, in seconds.
        var linger: Double = 600
        /// How long files stay that a process left unfinished, in seconds.
        var abandoned: Double = 86_400
        /// How long to wait for another process's lock.
        var patience: Duration = .seconds(60)

        /// The size below which nothing is compacted.
        var smallest: Int { 4 * segment }
    }

    /// The segment that this process appends to. It is used only under the publisher's lock.
    private final class OpenSegment: @unchecked Sendable {
        let writer: FrameWriter
        /// The bytes that were acknowledged.
        var length: Int

        init(_ writer: FrameWriter, length: Int) { (self.writer, self.length) = (writer, length) }

        var previous: SegmentHeader.Previous { .init(name: writer.header.name, length: length, isFinal: true) }
    }

    private struct State: Sendable {
        var current: OpenSegment?
        /// The segments that were there when the current one was begun, and that one.
        var names: [SegmentName] = []
        var isUsable = false
        /// Whether readers cannot come past a segment: the next one has to be a base.
        var isDamaged = false
    }

    private let writer: String
    private let directory: DurableDirectory
    private let settings: Settings
    private let headers: HeaderCache
    private let log: @Sendable (String) -> Void
    private let waiting = Mutex<[Batch]>([])
    private let state = Mutex(State())

    /// - Parameter log: Takes what went wrong and does no harm.
    init(
        _ writer: String, in directory: DurableDirectory, _ settings: Settings, _ headers: HeaderCache,
        log: @escaping @Sendable (String) -> Void
    ) {
        (self.writer, self.directory, self.settings, self.headers) = (writer, directory, settings, headers)
        self.log = log
    }

    /// Lets the next segment be a base, since one of the segments is damaged.
    func noteDamage() { state.withLock { ($0.isUsable, $0.isDamaged) = (false, true) } }

    /// Makes changes durable, in order.
    ///
    /// - Throws: `StorageError`, with `durabilityUnknown` if the records may be lost in a power failure.
    func publish(_ changes: [Batch.Change], isCancelled: () -> Bool) throws {
        let batch = Batch(changes)
        waiting.withLock { $0.append(batch) }
        try state.withLock { state in
            // Who held the lock before may have written this batch, too.
            if batch.result == nil { writeWaiting(&state, isCancelled) }
            try batch.result?.get()
        }
    }

    private func writeWaiting(_ state: inout State, _ isCancelled: () -> Bool) {
        let batches = waiting.withLock { batches in
            defer { batches = [] }
            return batches
        }
        let result = Result { try write(batches.flatMap(\.changes), &state, isCancelled) }
        for batch in batches { batch.finish(result) }
    }

    private func write(_ changes: [Batch.Change], _ state: inout State, _ isCancelled: () -> Bool) throws {
        let lock = try FolderLock(directory, patience: settings.patience, isCancelled: isCancelled)
        defer { withExtendedLifetime(lock) {} }
        var rest = changes[...]
        while !rest.isEmpty {
            let segment = try continuing(&state)
            do {
                while let change = rest.first, segment.writer.offset < settings.segment {
                    try append(change, to: segment)
                    rest = rest.dropFirst()
                }
                try segment.writer.flush()
                try synchronize(segment)
            } catch {
                discard(segment, &state)
                throw error
            }
            segment.length = segment.writer.offset
        }
    }

    /// Gives up a segment after a failure. Nothing is appended to it again: a reader may have seen more of it than the
    /// disk keeps.
    private func discard(_ segment: OpenSegment, _ state: inout State) {
        state.isUsable = false
        if segment.length == segment.writer.header.length {
            state.current = nil
            try? directory.removeEntry(segment.writer.header.name.path)
        } else {
            // What was not acknowledged only takes space: readers end at the acknowledged length.
            try? segment.writer.file.truncate(to: segment.length)
        }
    }

    private func append(_ change: Batch.Change, to segment: OpenSegment) throws {
        var name = change.name
        try name.withUTF8 { name in
            try change.content.withUnsafeBytes {
                try segment.writer.append(change.kind, name: UnsafeRawBufferPointer(name), content: $0)
            }
        }
    }

    private func synchronize(_ segment: OpenSegment) throws {
        do {
            try segment.writer.file.synchronizeContent()
        } catch {
            throw StorageError(
                .durabilityUnknown, "records of '\(writer)' may not survive a power loss: \(error.message)",
                hint: "check the disk, then publish them again")
        }
    }

    /// The segment to append to: the current one, or a new one whose name is durable.
    private func continuing(_ state: inout State) throws -> OpenSegment {
        let names = try directory.segmentNames()
        if let current = state.current, state.isUsable, names == state.names, current.length < settings.segment,
            try isIntact(current)
        {
            return current
        }
        state.isUsable = false
        let chain = try chain(after: state.current, isDamaged: state.isDamaged)
        let (previous, check, newest) = try compacting(chain)
        let name = SegmentName(stamp: try Self.stamp(after: newest, directory), id: .random(in: 1 ... .max))
        let header = SegmentHeader(writer: writer, name: name, previous: previous, nextCheck: check)
        let file = try directory.create(name.path)
        let frames = FrameWriter(file, header, from: header.length)
        do {
            try header.encoded.withUnsafeBytes { try frames.file.write($0, at: 0) }
            try directory.synchronizeEntries()
        } catch {
            try? directory.removeEntry(name.path)
            throw error
        }
        let segment = OpenSegment(frames, length: header.length)
        state.current = segment
        state.names = try directory.segmentNames()
        // If the base could not be written, the next segment is another attempt.
        (state.isUsable, state.isDamaged) = (true, state.isDamaged && previous?.name == chain.last?.name)
        return segment
    }

    private func chain(after own: OpenSegment?, isDamaged: Bool) throws -> OwnChain {
        for _ in 0..<Self.attempts {
            do {
                return try OwnChain(
                    WriterSegments(writer, in: directory, headers), own: own.map { $0.previous }, isDamaged: isDamaged)
            } catch is Vanished {}
        }
        throw StorageError(system: EBUSY, "list", path: directory.path, detail: "its files keep changing")
    }

    private static let attempts = 8

    private func isIntact(_ segment: OpenSegment) throws -> Bool {
        try segment.writer.file.status().size == segment.length
            && directory.isCurrent(segment.writer.file, segment.writer.header.name.path)
    }

    /// Writes a base if one is due, and removes segments that are unnecessary.
    ///
    /// - Returns: The segment that the next one follows, when to check next, and the greatest stamp.
    private func compacting(
        _ chain: OwnChain
    ) throws -> (previous: SegmentHeader.Previous?, nextCheck: Int, newest: UInt64) {
        var newest = chain.branches.segments.segments.last?.name.stamp ?? 0
        var previous = chain.last
        var check = chain.nextCheck
        let size = try chain.size()
        // Each process that publishes leaves a segment, however small.
        let isScattered = chain.count - size / settings.segment > Self.mostSmallSegments
        if size >= max(check, settings.smallest) || isScattered || !chain.isWhole {
            do {
                let survey = try Survey(of: chain.branches)
                if !chain.isWhole || isScattered || survey.isMostlyUnneeded {
                    let stamp = try Self.stamp(after: newest, directory)
                    let base = try chain.writeBase(survey, stamp: stamp, smallest: settings.smallest)
                    previous = .init(name: base.name, length: base.base?.end ?? 0, isFinal: true)
                    newest = stamp
                    check = base.nextCheck
                } else {
                    check = 2 * survey.size
                }
            } catch {
                // The new segment can follow the last one all the same. The next one is another attempt.
                log("cannot compact '\(directory.path)': \(error)")
            }
        }
        do {
            try chain.branches.segments.removeUnneeded(
                linger: settings.linger, abandoned: settings.abandoned)
        } catch {
            log("cannot remove old segments of '\(directory.path)': \(error)")
        }
        return (previous, check, newest)
    }

    private static let mostSmallSegments = 256

    /// A stamp behind another.
    private static func stamp(after newest: UInt64, _ directory: DurableDirectory) throws -> UInt64 {
        guard newest < SegmentName.greatestStamp else {
            throw StorageError(
                .storeUnavailable, "no segment can follow the last one in '\(directory.path)'",
                hint: "remove the files there whose names begin with '4000000000000000'")
        }
        return max(newest + 1, Self.now)
    }

    /// Microseconds since 1970 UTC.
    static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return UInt64(max(0, time.tv_sec)) * 1_000_000 + UInt64(time.tv_nsec) / 1000
    }
}
