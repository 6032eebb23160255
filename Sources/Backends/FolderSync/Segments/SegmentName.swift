import DurableFiles

/// The name of a segment's file: `<stamp>-<id>.segment`, both numbers with 16 hexadecimal digits.
///
/// A conflict copy or a temporary file of a copying program has another spelling, and is not a segment.
struct SegmentName: Hashable, Sendable {
    /// Orders the segments of a writer: microseconds since 1970 UTC when the segment was begun, or one more than the
    /// greatest that the writer's folder had, if that is greater. So a device that was restored from an old image goes
    /// on behind what it published after the image was taken, without knowing of it.
    let stamp: UInt64
    /// A random number: no two segments have the same.
    let id: UInt64

    /// A greater stamp cannot be one more than another.
    static let greatestStamp: UInt64 = 1 << 62
    private static let suffix = Array(".segment".utf8)

    init(stamp: UInt64, id: UInt64) { (self.stamp, self.id) = (stamp, id) }

    /// Reads a file's name; `nil` if it is not that of a segment.
    init?(_ name: [UInt8]) {
        guard name.count == 33 + Self.suffix.count, name[16] == UInt8(ascii: "-"),
            name[33...].elementsEqual(Self.suffix),
            let stamp = Self.number(name[..<16]), let id = Self.number(name[17..<33]), id != 0,
            stamp <= Self.greatestStamp
        else { return nil }
        self.init(stamp: stamp, id: id)
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
        var number: UInt64 = 0
        for digit in digits {
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number << 4 | UInt64(digit - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): number = number << 4 | UInt64(digit - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
        return number
    }

    var path: RelativePath { RelativePath(description) }
}

extension SegmentName: Comparable {
    static func < (one: SegmentName, other: SegmentName) -> Bool { (one.stamp, one.id) < (other.stamp, other.id) }
}

extension SegmentName: CustomStringConvertible {
    var description: String { "\(Self.text(stamp))-\(Self.text(id)).segment" }

    private static func text(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
