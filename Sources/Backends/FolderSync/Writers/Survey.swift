import DurableFiles

/// What there is in a writer's segments: for each name the frame that counts. Takes about 150 bytes of memory for each
/// name.
struct Survey {
    /// A record's name of up to 64 bytes, in place.
    private typealias Name = SIMD64<UInt8>

    private struct Place {
        let origin: FrameOrigin
        let offset: Int
        let segment: SegmentName
        /// The size of the frame; 0 for a removal.
        let size: Int
    }

    private var newest: [Name: Place] = [:]
    /// The size of the frames that are needed.
    private(set) var needed = 0
    /// The size of all frames.
    private(set) var size = 0
    /// How far each active segment was read.
    private(set) var lengths: [SegmentName: Int] = [:]

    /// Reads everything.
    ///
    /// - Throws: ``Vanished``; `StorageError`.
    init(of branches: Branches) throws {
        for segment in branches.active {
            let reader = try branches.reader(of: segment)
            var offset = reader.offset
            while let frame = try reader.next() {
                let size = reader.offset - offset
                let name = Self.key(frame.name)
                self.size += size
                // In a fork, what comes later need not be newer.
                if let kind = frame.kind, newest[name].map({ $0.origin <= frame.origin }) ?? true {
                    newest[name] = Place(
                        origin: frame.origin, offset: offset, segment: segment.name, size: kind == .put ? size : 0)
                }
                offset = reader.offset
            }
            lengths[segment.name] = reader.offset
        }
        needed = newest.values.reduce(0) { $0 + $1.size }
    }

    var isMostlyUnneeded: Bool { size - needed > needed }

    /// Whether the frame at an offset is the newest of its name, and not a removal. One that was added later is.
    func isNewest(_ frame: Frame, at offset: Int, of segment: SegmentName) -> Bool {
        if offset >= lengths[segment] ?? 0 { return true }
        guard let place = newest[Self.key(frame.name)] else { return false }
        return place.size > 0 && place.segment == segment && place.offset == offset
    }

    private static func key(_ name: UnsafeRawBufferPointer) -> Name {
        var key = Name(repeating: 0)
        for (index, byte) in name.enumerated() { key[index] = byte }
        return key
    }
}

/// The frames that a reader is to get: all of a chain, and of several branches the newest of each name.
enum NewestFrames {
    case all
    case surveyed(Survey)

    init(in segments: WriterSegments) throws {
        let branches = try Branches(segments)
        self = branches.isForked ? .surveyed(try Survey(of: branches)) : .all
    }

    func includes(_ frame: Frame, at offset: Int, of segment: SegmentName) -> Bool {
        switch self {
        case .all: true
        case .surveyed(let survey): survey.isNewest(frame, at: offset, of: segment)
        }
    }
}
