import DurableFiles

/// The segments of a writer as its folder has them now, and the order in which their records are read.
///
/// Each segment names the one before it and how long that was. A reader reads a segment once it has read so much of the
/// one before; so it waits for what arrives late, and never skips. Two kinds of segments have none before: the first of
/// all, and a base, which restates all records that are still valid.
///
/// Segments form a tree, not a chain: a device that was restored from an old image does not know what it published
/// afterwards, and continues from the image's last segment; a copying program then brings the other branch back. Both
/// branches are read, in the order of their stamps. The writer joins them with a base as soon as it notices.
struct WriterSegments {
    let writer: String
    let directory: DurableDirectory
    /// All segments with a whole header, oldest first. A base that has not arrived whole is left out.
    private(set) var segments: [SegmentHeader] = []
    /// Whether there are files that may become segments when they have arrived.
    private(set) var isArriving = false
    /// How many bytes of a segment bases make unnecessary, by the segment's id.
    private(set) var covered: [UInt64: Int] = [:]
    /// Bases make all segments with a smaller stamp unnecessary.
    private(set) var floor: UInt64 = 0
    /// Where segments end that nothing is added to, by their ids.
    private var ends: [UInt64: Int] = [:]

    /// - Throws: ``Vanished`` if segments were added or removed meanwhile; `SystemCallError`.
    init(_ writer: String, in directory: DurableDirectory, _ headers: HeaderCache) throws {
        self.writer = writer
        self.directory = directory
        let names = try directory.segmentNames()
        for name in names {
            guard let header = try headers.header(of: name, writer, in: directory) else {
                isArriving = true
                continue
            }
            if let base = header.base {
                guard let file = try directory.openSegment(name), try file.status().size >= base.end else {
                    isArriving = true
                    continue
                }
                floor = max(floor, base.floor)
                covered.merge(base.covered) { max($0, $1) }
                ends[name.id] = base.end
            }
            if let previous = header.previous, previous.isFinal { ends[previous.name.id] = previous.length }
            segments.append(header)
        }
        if isArriving, try directory.segmentNames() != names { throw Vanished() }
    }

    /// Where the frames that count end, if that is known to be before the file's end.
    func end(of segment: SegmentHeader) -> Int? { ends[segment.name.id] }

    /// Whether a base makes the whole segment unnecessary, whatever arrives of it.
    func isBelowFloor(_ name: SegmentName) -> Bool { name.stamp < floor }

    /// Whether this folder still explains a segment that a position names: it is here, it is unnecessary, or it may be
    /// arriving.
    func explains(_ name: SegmentName) -> Bool {
        isArriving || isBelowFloor(name) || covered[name.id] != nil || segments.contains { $0.name == name }
    }

    /// Passes the frames that a reader does not know to `body`, in order, until it returns `false`.
    ///
    /// - Parameter known: How far the reader knows segments, by their ids. What it reads is added.
    /// - Returns: Whether it came to the end.
    /// - Throws: ``Vanished`` if a segment was removed meanwhile; `SystemCallError`.
    func read(_ known: inout [UInt64: Int], _ body: (Frame) -> Bool) throws -> Bool {
        addAncestors(to: &known)
        for segment in segments where !isBelowFloor(segment.name) {
            let id = segment.name.id
            guard let start = start(of: segment, known) else { continue }
            let isNew = known[id] == nil && covered[id] == nil
            if isNew { known[id] = start }
            if let end = end(of: segment), start >= end { continue }
            guard let file = try directory.openSegment(segment.name) else { throw Vanished() }
            let reader = try FrameReader(file, id: id, from: start, limit: end(of: segment))
            while let frame = try reader.next() {
                known[id] = reader.offset
                guard body(frame) else { return false }
            }
        }
        return true
    }

    /// Who has begun a segment knows what is before it.
    private func addAncestors(to known: inout [UInt64: Int]) {
        for segment in segments.reversed() {
            guard known[segment.name.id] != nil, let previous = segment.previous else { continue }
            known[previous.name.id] = max(known[previous.name.id] ?? 0, previous.length)
        }
    }

    /// Where to go on in a segment; `nil` if what is before it has not arrived.
    private func start(of segment: SegmentHeader, _ known: [UInt64: Int]) -> Int? {
        let id = segment.name.id
        if known[id] != nil || covered[id] != nil { return max(known[id] ?? 0, covered[id] ?? 0) }
        guard let previous = segment.previous else { return segment.length }
        let before = previous.name.id
        if let base = segment.base {
            // Who knows all that the base restates does not need it.
            return known[before].map { $0 >= previous.length } ?? false ? base.end : segment.length
        }
        if isBelowFloor(previous.name) { return segment.length }
        return max(known[before] ?? 0, covered[before] ?? 0) >= previous.length ? segment.length : nil
    }

    /// The fewest segments from which a reader's knowledge follows.
    ///
    /// - Parameter names: The names of segments that are not here.
    func frontier(of known: [UInt64: Int], names: [UInt64: SegmentName]) -> [(name: SegmentName, offset: Int)] {
        var implied: [UInt64: Int] = [:]
        var floor: UInt64 = 0
        for segment in segments where known[segment.name.id] != nil {
            if let previous = segment.previous { implied[previous.name.id, default: 0].raise(to: previous.length) }
            guard let base = segment.base else { continue }
            floor = max(floor, base.floor)
            for (id, length) in base.covered { implied[id, default: 0].raise(to: length) }
        }
        let here = Dictionary(segments.map { ($0.name.id, $0.name) }) { first, _ in first }
        return known.compactMap { id, offset in
            guard let name = here[id] ?? names[id], name.stamp >= floor, implied[id].map({ $0 < offset }) ?? true else {
                return nil
            }
            return (name, offset)
        }.sorted { $0.name < $1.name }
    }
}

/// A segment was removed between two steps: the folder has to be listed again.
struct Vanished: Error {}

extension Int {
    fileprivate mutating func raise(to other: Int) { self = Swift.max(self, other) }
}
