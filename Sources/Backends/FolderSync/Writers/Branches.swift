import DurableFiles

/// The segments of a writer that no base makes unnecessary.
///
/// Usually they are one chain. But a device that was restored from an old image does not know what it published after
/// the image was taken, and continues from the image's last segment. Then a copying program brings back what it
/// published before, as a second branch. Both count: of each name, the record that was published last. The writer joins
/// them with a base when it publishes next; until then each reader finds the newest frames itself, with a ``Survey``.
struct Branches {
    let segments: WriterSegments
    /// Oldest first.
    let active: [SegmentHeader]
    let isForked: Bool

    /// - Throws: `StorageError`; ``Vanished``.
    init(_ segments: WriterSegments) throws {
        self.segments = segments
        active = try segments.segments.filter { try segments.isNeeded($0, beyond: segments.covered) }
        isForked = try Self.isForked(active, segments)
    }

    /// The segments before others, with the length that they had.
    private static func isForked(_ active: [SegmentHeader], _ segments: WriterSegments) throws -> Bool {
        // No base knew of a segment that is older and still needed.
        if let base = active.last(where: { $0.base != nil }), active.first?.name != base.name { return true }
        var followed: Set<SegmentName> = []
        var roots = 0
        for segment in active {
            guard segment.base == nil, let previous = segment.previous else {
                roots += 1
                continue
            }
            // Nor of one that continues from what it replaced.
            if segments.covered[previous.name] != nil || !followed.insert(previous.name).inserted { return true }
            if !previous.isFinal, try segments.hasMore(than: previous) { return true }
        }
        return roots > 1
    }

    /// The frames of an active segment that no base makes unnecessary.
    ///
    /// - Throws: ``Vanished``; `StorageError`.
    func reader(of segment: SegmentHeader) throws -> FrameReader {
        try segments.reader(of: segment.name, from: max(segment.length, segments.covered[segment.name] ?? 0))
    }
}

extension WriterSegments {
    /// Whether a segment has frames beyond those that bases make unnecessary.
    func isNeeded(_ segment: SegmentHeader, beyond covered: [SegmentName: Int]) throws -> Bool {
        guard let length = covered[segment.name] else { return true }
        return try hasFrame(segment.name, at: length)
    }

    /// Whether frames were added to a segment after another one continued from it.
    fileprivate func hasMore(than previous: SegmentHeader.Previous) throws -> Bool {
        try contains(previous.name) && hasFrame(previous.name, at: previous.length)
    }

    private func hasFrame(_ name: SegmentName, at offset: Int) throws -> Bool {
        if let end = end(of: name), offset >= end { return false }
        guard try size(of: name) > offset else { return false }
        return try reader(of: name, from: offset).next() != nil
    }
}
