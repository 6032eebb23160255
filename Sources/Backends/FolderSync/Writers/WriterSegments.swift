import ByteCoding
import DurableFiles

/// The segments of a writer as its folder has them now, and the order in which their records are read.
///
/// Each segment names the one before it and how long that was. A reader reads a segment once it has read so much of the
/// one before; so it waits for what arrives late, and never skips. Two kinds of segments have none before: the first of
/// all, and a base, which restates all records that are still valid. Only what a base lists is unnecessary: any other
/// frame counts, however late it arrives; see ``Branches``.
///
/// A copying program may show a file that was whole before in part again, or remove segments before the base arrives
/// that replaces them. Then the reader cannot see what it knows of older segments, and leaves those for later.
struct WriterSegments {
    let writer: String
    let directory: DurableDirectory
    /// All segments with a whole header, oldest first. A base that has not arrived whole is left out.
    private(set) var segments: [SegmentHeader] = []
    /// Whether there are files that may become segments when they have arrived.
    private var isArriving = false
    /// How many bytes of a segment bases make unnecessary.
    private(set) var covered: [SegmentName: Int] = [:]
    /// Bases list no segments with a smaller stamp any more: those that are gone were unnecessary.
    private(set) var floor: UInt64 = 0
    /// Where segments end that nothing is added to.
    private var ends: [SegmentName: Int] = [:]
    private var names: Set<SegmentName> = []
    /// The segments whose bytes are not those that were written, as far as they were read: the header, or the frames
    /// before the next segment begins. What comes behind is not read.
    private(set) var damaged: Set<SegmentName> = []
    /// The segments that others continue from, but that are not here, or not whole. What comes behind is not read.
    private(set) var missing: Set<SegmentName> = []

    /// - Throws: ``Vanished`` if segments were added or removed meanwhile; `StorageError`.
    init(_ writer: String, in directory: DurableDirectory, _ headers: HeaderCache) throws {
        self.writer = writer
        self.directory = directory
        let found = try directory.segmentNames()
        var unfinished: [SegmentName] = []
        for name in found {
            guard let header = try headers.header(of: name, writer, in: directory) else {
                unfinished.append(name)
                continue
            }
            if let base = header.base {
                guard try size(of: name) >= base.end else {
                    unfinished.append(name)
                    continue
                }
                floor = max(floor, base.floor)
                covered.merge(base.covered) { max($0, $1) }
                ends[name] = base.end
            }
            if let previous = header.previous, previous.isFinal { ends[previous.name] = previous.length }
            segments.append(header)
            names.insert(name)
        }
        if !unfinished.isEmpty, try directory.segmentNames() != found { throw Vanished() }
        isArriving = try unfinished.contains { try directory.hasChanged($0, within: Self.arrival) }
    }

    /// For how many seconds after its last change an unfinished file counts as arriving.
    private static let arrival: Double = 600

    /// Where the frames that count end, if nothing is added to the segment.
    func end(of name: SegmentName) -> Int? { ends[name] }

    func contains(_ name: SegmentName) -> Bool { names.contains(name) }

    /// Whether this folder still explains a segment that a position names: it is here, or was unnecessary.
    func explains(_ name: SegmentName) -> Bool { contains(name) || covered[name] != nil || name.stamp < floor }

    /// Whether this folder cannot explain what a position names, and never will.
    func hasLost(_ name: SegmentName) -> Bool { !isArriving && !explains(name) }

    /// Whether a file is shorter than what a reader has read of it, and will stay so: an earlier copy of the folder has
    /// taken its place.
    func isCutOff(_ name: SegmentName, before offset: Int) throws -> Bool {
        guard contains(name), covered[name] ?? 0 < offset else { return false }
        guard try size(of: name) < min(offset, end(of: name) ?? offset) else { return false }
        return try !directory.hasChanged(name, within: Self.arrival)
    }

    /// The segment's size in bytes; 0 if it is gone.
    func size(of name: SegmentName) throws -> Int {
        guard let file = try directory.openSegment(name) else { return 0 }
        return try file.status().size
    }

    /// The frames of a segment from an offset to where those that count end.
    ///
    /// - Throws: ``Vanished`` if it is gone; `StorageError`.
    func reader(of name: SegmentName, from offset: Int) throws -> FrameReader {
        guard let file = try directory.openSegment(name) else { throw Vanished() }
        return try FrameReader(file, id: name.id, from: offset, limit: end(of: name))
    }

    /// Passes the frames that a reader does not know to `body`, in order, until it returns `false`. While there are
    /// several branches, only the newest frame of each name.
    ///
    /// - Parameter known: How far the reader knows segments. What it reads is added.
    /// - Returns: Whether it came to the end.
    /// - Throws: ``Vanished`` if a segment was removed meanwhile; `StorageError`.
    mutating func read(_ known: inout [SegmentName: Int], _ body: (Frame) -> Bool) throws -> Bool {
        addAncestors(to: &known)
        let unclear = known.keys.filter { !explains($0) }.max()
        var newest: NewestFrames?
        for segment in segments {
            let name = segment.name
            if known[name] == nil, let unclear, name < unclear { continue }
            guard let start = start(of: segment, known) else {
                if let previous = segment.previous { try note(previous, isRead: known[previous.name] != nil) }
                continue
            }
            if known[name] == nil, covered[name] == nil { known[name] = start }
            if let end = end(of: name), start >= end { continue }
            let reader = try reader(of: name, from: start)
            var offset = start
            while let frame = try reader.next() {
                let frames = try newest ?? NewestFrames(in: self)
                newest = frames
                let counts = frames.includes(frame, at: offset, of: name)
                offset = reader.offset
                known[name] = offset
                guard !counts || body(frame) else { return false }
            }
            // Of a frame that is being written, or arrives, a part is missing, and not for long. What a crash has left
            // behind the last frame does not matter to who goes on after it.
            let isLost = try reader.isDamaged || reader.hasRest && !directory.hasChanged(name, within: Self.arrival)
            if isLost, !isFollowed(name, from: reader.offset) { damaged.insert(name) }
        }
        return true
    }

    /// Whether a segment continues another from an offset, or from before it.
    private func isFollowed(_ name: SegmentName, from offset: Int) -> Bool {
        segments.contains { $0.previous.map { $0.name == name && $0.length <= offset } ?? false }
    }

    /// Notes why what continues from a segment is not read.
    private mutating func note(_ previous: SegmentHeader.Previous, isRead: Bool) throws {
        if try size(of: previous.name) < previous.length {
            missing.insert(previous.name)
        } else if isRead || !contains(previous.name) {
            damaged.insert(previous.name)
        }
    }

    /// Who has begun a segment knows what is before it.
    private func addAncestors(to known: inout [SegmentName: Int]) {
        for segment in segments.reversed() {
            guard known[segment.name] != nil, let previous = segment.previous else { continue }
            known[previous.name, default: 0].raise(to: previous.length)
        }
    }

    /// Where to go on in a segment; `nil` if what is before it has not arrived.
    private func start(of segment: SegmentHeader, _ known: [SegmentName: Int]) -> Int? {
        let name = segment.name
        if known[name] != nil || covered[name] != nil { return max(known[name] ?? 0, covered[name] ?? 0) }
        guard let previous = segment.previous else { return segment.length }
        let before = previous.name
        if let base = segment.base {
            // Who knows all that the base restates does not need it.
            return known[before].map { $0 >= previous.length } ?? false ? base.end : segment.length
        }
        if before.stamp < floor, !contains(before) { return segment.length }
        return max(known[before] ?? 0, covered[before] ?? 0) >= previous.length ? segment.length : nil
    }

    /// A number that changes when segments come, go or grow.
    ///
    /// - Parameter known: How far a reader knows the segments; `nil`: it does not matter.
    /// - Returns: `nil` if the reader does not know all that is here, or something is arriving.
    func fingerprint(ifAllIs known: [SegmentName: Int]? = nil) throws -> UInt64? {
        var hash = StableHash.of(Array(writer.utf8))
        for segment in segments {
            let name = segment.name
            // Once, so that nothing counts as known that is added meanwhile.
            let size = try size(of: name)
            if let known, max(known[name] ?? 0, covered[name] ?? 0) < end(of: name) ?? size { return nil }
            [name.stamp, name.id, UInt64(size)].withUnsafeBytes { StableHash.add($0, to: &hash) }
        }
        return known != nil && (isArriving || !damaged.isEmpty || !missing.isEmpty) ? nil : hash
    }

    /// The fewest segments from which a reader's knowledge follows.
    func frontier(of known: [SegmentName: Int]) -> [(name: SegmentName, offset: Int)] {
        var implied: [SegmentName: Int] = [:]
        var forgotten: UInt64 = 0
        for segment in segments where known[segment.name] != nil {
            if let previous = segment.previous { implied[previous.name, default: 0].raise(to: previous.length) }
            guard let base = segment.base else { continue }
            forgotten = max(forgotten, base.floor)
            implied.merge(base.covered) { max($0, $1) }
        }
        return known.filter { name, offset in
            if let implied = implied[name], implied >= offset { return false }
            return contains(name) || name.stamp >= forgotten
        }.map { ($0.key, $0.value) }.sorted { $0.name < $1.name }
    }
}

/// A segment was removed between two steps: the folder has to be listed again.
struct Vanished: Error {}

extension Int {
    fileprivate mutating func raise(to other: Int) { self = Swift.max(self, other) }
}
