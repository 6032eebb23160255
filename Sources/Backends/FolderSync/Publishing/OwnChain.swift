import DurableFiles
import Glibc

/// A writer's own segments, as it finds them before it begins a new one.
struct OwnChain {
    let branches: Branches
    /// Whether the active segments are one chain without a gap. Otherwise a base must restate what there is: after a
    /// device was restored, or if files were removed.
    let isWhole: Bool
    /// The segment that the next one follows.
    let last: SegmentHeader.Previous?

    /// - Parameters:
    ///   - own: The last segment that this process has written.
    ///   - isDamaged: Whether readers cannot come past one of the segments.
    /// - Throws: `StorageError`; ``Vanished``.
    init(_ segments: WriterSegments, own: SegmentHeader.Previous?, isDamaged: Bool = false) throws {
        branches = try Branches(segments)
        let active = branches.active
        var isWhole = !branches.isForked && !isDamaged
        for segment in active where segment.base == nil {
            guard let previous = segment.previous else { continue }
            isWhole =
                try isWhole && segments.contains(previous.name) && segments.size(of: previous.name) >= previous.length
        }
        if let own, !segments.contains(own.name), segments.covered[own.name] == nil { isWhole = false }
        let followed = Set(active.compactMap { $0.base == nil ? $0.previous?.name : nil })
        if let leaf = active.last(where: { !followed.contains($0.name) }) {
            if let own, own.name == leaf.name {
                last = own
                isWhole = try isWhole && segments.size(of: own.name) >= own.length
            } else {
                let reader = try branches.reader(of: leaf)
                try reader.skipAll()
                last = SegmentHeader.Previous(
                    name: leaf.name, length: leaf.base?.end ?? reader.offset, isFinal: leaf.base != nil)
            }
        } else {
            last = nil
        }
        self.isWhole = isWhole
    }

    /// The size at which to look for bytes that are no longer needed.
    var nextCheck: Int { branches.active.last?.nextCheck ?? 0 }

    /// The number of active segments.
    var count: Int { branches.active.count }

    /// The size of the active segments in bytes.
    func size() throws -> Int { try branches.active.reduce(0) { try $0 + branches.segments.size(of: $1.name) } }

    /// Writes a base with all records that count. Its header is written last, when the rest is on the disk.
    ///
    /// - Parameter smallest: The size below which nothing is compacted.
    /// - Returns: The base's header.
    func writeBase(_ survey: Survey, stamp: UInt64, smallest: Int) throws -> SegmentHeader {
        let segments = branches.segments
        let name = SegmentName(stamp: stamp, id: .random(in: 1 ... .max))
        let (covered, floor) = covered(survey)
        var header = SegmentHeader(
            writer: segments.writer, name: name, previous: isWhole ? last : nil,
            base: SegmentHeader.Base(end: 0, floor: floor, covered: covered), nextCheck: 0)
        let end = header.length + survey.needed
        header.base?.end = end
        header.nextCheck = max(smallest, 2 * end)
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
        for segment in branches.active {
            let reader = try branches.reader(of: segment)
            var offset = reader.offset
            while let frame = try reader.next(), offset < survey.lengths[segment.name] ?? 0 {
                if survey.isNewest(frame, at: offset, of: segment.name) {
                    try frames.append(.put, origin: frame.origin, name: frame.name, content: frame.content)
                }
                offset = reader.offset
            }
        }
        guard frames.offset == frames.header.base?.end else { throw Vanished() }
    }

    /// What a base with all that was surveyed makes unnecessary: exactly what it restates and what earlier bases did,
    /// so that nothing is lost that arrives later. The oldest segments are left out of a long list, and floor says so.
    private func covered(_ survey: Survey) -> (covered: [SegmentName: Int], floor: UInt64) {
        let segments = branches.segments
        let covered = segments.covered.merging(survey.lengths) { max($0, $1) }
        guard covered.count > SegmentHeader.mostCovered else { return (covered, segments.floor) }
        let kept = covered.sorted { $0.key > $1.key }.prefix(SegmentHeader.mostCovered)
        let floor = kept.last?.key.stamp ?? 0
        return (Dictionary(uniqueKeysWithValues: kept.map { ($0.key, $0.value) }), max(segments.floor, floor))
    }
}
