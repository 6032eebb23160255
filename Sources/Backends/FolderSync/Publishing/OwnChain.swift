import DurableFiles
import Glibc

/// A writer's own segments, as it finds them before it begins a new one.
struct OwnChain {
    let segments: WriterSegments
    /// The segments that are not unnecessary, oldest first.
    private let active: [SegmentHeader]
    /// Whether the active segments are one chain without a gap. Otherwise a base must restate what there is: after a
    /// device was restored, or if files were removed.
    let isWhole: Bool
    /// The segment that the next one follows.
    let last: SegmentHeader.Previous?

    /// - Parameter own: The last segment that this process has written.
    /// - Throws: `SystemCallError`; ``Vanished``.
    init(_ segments: WriterSegments, own: SegmentHeader.Previous?) throws {
        self.segments = segments
        active = try segments.segments.filter { try segments.isNeeded($0) }
        let followed = Set(active.compactMap { $0.base == nil ? $0.previous?.name : nil })
        let leaves = active.filter { !followed.contains($0.name) }
        let roots = active.filter { $0.base != nil || $0.previous == nil }
        var isWhole = leaves.count <= 1 && roots.count <= 1
        let names = Set(active.map(\.name))
        for segment in active where segment.base == nil {
            guard let previous = segment.previous else { continue }
            isWhole =
                try isWhole && names.contains(previous.name) && segments.size(of: previous.name) >= previous.length
        }
        if let own, !segments.has(own.name) { isWhole = false }
        if let leaf = leaves.last {
            if let own, own.name == leaf.name {
                last = own
                isWhole = try isWhole && segments.size(of: own.name) >= own.length
            } else {
                last = SegmentHeader.Previous(
                    name: leaf.name, length: try segments.validLength(of: leaf),
                    isFinal: leaf.base != nil)
            }
        } else {
            last = nil
        }
        self.isWhole = isWhole
    }

    /// The size at which to look for bytes that are no longer needed.
    var nextCheck: Int { active.last?.nextCheck ?? 0 }

    /// The number of active segments.
    var count: Int { active.count }

    /// The size of the active segments in bytes.
    func size() throws -> Int { try active.reduce(0) { try $0 + segments.size(of: $1.name) } }

    /// What there is in the segments: for each name the frame that counts.
    struct Survey {
        /// A record's name of up to 64 bytes, in place.
        typealias Name = SIMD64<UInt8>

        struct Place {
            let stamp: UInt64
            let offset: Int
            let segment: Int32
            /// The size of the frame; 0 for a removal.
            let size: Int32
        }

        var newest: [Name: Place] = [:]
        /// The size of the frames that are needed.
        var needed = 0
        /// The size of all frames.
        var size = 0
        /// How far each active segment was read.
        var lengths: [UInt64: Int] = [:]

        var isMostlyUnneeded: Bool { size - needed > needed }
    }

    /// Reads everything. Takes about 150 bytes of memory for each name.
    func survey() throws -> Survey {
        var survey = Survey()
        for (index, segment) in active.enumerated() {
            guard let reader = try reader(of: segment) else { throw Vanished() }
            var offset = reader.offset
            while let frame = try reader.next() {
                let size = reader.offset - offset
                let name = Self.key(frame.name)
                survey.size += size
                // In a fork, what comes later need not be newer.
                if let kind = frame.kind, frame.stamp >= survey.newest[name]?.stamp ?? 0 {
                    survey.newest[name] = Survey.Place(
                        stamp: frame.stamp, offset: offset, segment: Int32(index),
                        size: kind == .put ? Int32(size) : 0)
                }
                offset = reader.offset
            }
            survey.lengths[segment.name.id] = reader.offset
        }
        survey.needed = survey.newest.values.reduce(0) { $0 + Int($1.size) }
        return survey
    }

    /// Writes a base with all records that count. Its header is written last, when the rest is on the disk.
    ///
    /// - Parameter smallest: The size below which nothing is compacted.
    /// - Returns: The base's header.
    func writeBase(_ survey: Survey, stamp: UInt64, smallest: Int) throws -> SegmentHeader {
        let name = SegmentName(stamp: stamp, id: .random(in: 1 ... .max))
        var header = SegmentHeader(
            writer: segments.writer, name: name, previous: isWhole ? last : nil,
            base: SegmentHeader.Base(end: 0, floor: floor, covered: covered(survey)), nextCheck: 0)
        let end = header.length + survey.needed
        header.base?.end = end
        header.nextCheck = max(smallest, 2 * end)
        guard header.length <= SegmentHeader.largest else {
            throw SystemCallError(EFBIG, "list the files of", path: segments.directory.path)
        }
        let file = try segments.directory.create(name.path)
        let frames = FrameWriter(file, header, from: header.length)
        do {
            try restate(survey, to: frames)
            try frames.flush()
            try frames.file.synchronizeContent()
            try header.encoded.withUnsafeBytes { try frames.file.write($0, at: 0) }
            try frames.file.synchronizeContent()
            try segments.directory.synchronizeEntries()
        } catch {
            try? segments.directory.removeEntry(name.path)
            throw error
        }
        return header
    }

    private func restate(_ survey: Survey, to frames: FrameWriter) throws {
        for (index, segment) in active.enumerated() {
            guard let reader = try reader(of: segment) else { throw Vanished() }
            var offset = reader.offset
            while let frame = try reader.next() {
                if let place = survey.newest[Self.key(frame.name)], place.size > 0, place.segment == index,
                    place.offset == offset
                {
                    try frames.append(.put, stamp: frame.stamp, name: frame.name, content: frame.content)
                }
                offset = reader.offset
            }
        }
        guard frames.offset == frames.header.base?.end else { throw Vanished() }
    }

    private func reader(of segment: SegmentHeader) throws -> FrameReader? {
        guard let file = try segments.directory.openSegment(segment.name) else { return nil }
        let start = max(segment.length, segments.covered[segment.name.id] ?? 0)
        return try FrameReader(file, id: segment.name.id, from: start, limit: segments.end(of: segment))
    }

    /// The oldest base that this one replaces; what that made unnecessary may be forgotten.
    private var floor: UInt64 { active.first { $0.base != nil }.map { max($0.name.stamp, segments.floor) } ?? 0 }

    private func covered(_ survey: Survey) -> [UInt64: Int] {
        var covered = segments.covered
        for segment in segments.segments {
            let id = segment.name.id
            let length = segments.end(of: segment) != nil ? Int.max >> 2 : survey.lengths[id] ?? 0
            covered[id] = max(covered[id] ?? 0, length)
        }
        // An older base's list is as long as segments were kept; those below the floor need no entry.
        let names = Dictionary(segments.segments.map { ($0.name.id, $0.name.stamp) }) { first, _ in first }
        let kept = covered.filter { names[$0.key].map { $0 >= floor } ?? false }
        return kept
    }

    private static func key(_ name: UnsafeRawBufferPointer) -> Survey.Name {
        var key = Survey.Name(repeating: 0)
        for (index, byte) in name.enumerated() { key[index] = byte }
        return key
    }
}

extension WriterSegments {
    /// Whether a segment has frames that no base makes unnecessary.
    fileprivate func isNeeded(_ segment: SegmentHeader) throws -> Bool {
        if isBelowFloor(segment.name) { return false }
        guard let length = covered[segment.name.id] else { return true }
        if let end = end(of: segment), length >= end { return false }
        guard let file = try directory.openSegment(segment.name) else { return false }
        if try file.status().size <= length { return false }
        return try FrameReader(file, id: segment.name.id, from: length, limit: end(of: segment)).next() != nil
    }

    /// Whether a segment is here, or a base has made it unnecessary.
    fileprivate func has(_ name: SegmentName) -> Bool {
        isBelowFloor(name) || covered[name.id] != nil || segments.contains { $0.name == name }
    }

    fileprivate func size(of name: SegmentName) throws -> Int {
        guard let file = try directory.openSegment(name) else { return 0 }
        return try file.status().size
    }

    /// How many bytes of a segment are as they were written.
    fileprivate func validLength(of segment: SegmentHeader) throws -> Int {
        if let base = segment.base { return base.end }
        guard let file = try directory.openSegment(segment.name) else { throw Vanished() }
        let start = max(segment.length, covered[segment.name.id] ?? 0)
        let reader = try FrameReader(file, id: segment.name.id, from: start, limit: end(of: segment))
        try reader.skipAll()
        return reader.offset
    }

    /// Removes the segments that bases make unnecessary: those of earlier generations at once, the others when the base
    /// has had so many seconds to arrive everywhere.
    func removeUnneeded(linger: Double) throws {
        guard let base = segments.last(where: { $0.base != nil }) else { return }
        let isOld = Publisher.now >= base.name.stamp + UInt64(linger * 1_000_000)
        var hasRemoved = false
        for name in try directory.segmentNames() where name < base.name {
            let isUnneeded =
                try isBelowFloor(name)
                || isOld && segments.contains { try $0.name == name && covered[name.id] != nil && !isNeeded($0) }
            guard isUnneeded else { continue }
            try directory.removeEntry(name.path)
            hasRemoved = true
        }
        if hasRemoved { try directory.synchronizeEntries() }
    }
}
