/// A batch's journal as another program would write it: what the format says, and nothing checked.
struct ForgedJournal {
    var id = "0123456789abcdef"
    /// Whether each is below the root, and its path.
    var places: [(isBelowRoot: Bool, path: String)]
    /// The place, whether there is content, and the path.
    var changes: [(place: Int, hasContent: Bool, path: String)]

    var bytes: [UInt8] {
        var bytes = Array("LDBATCH".utf8) + [1] + id.utf8 + number(places.count)
        for place in places { bytes += [place.isBelowRoot ? 1 : 0] + text(place.path) }
        bytes += number(changes.count)
        for change in changes { bytes += number(change.place) + [change.hasContent ? 1 : 0] + text(change.path) }
        let sum = bytes.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return bytes + (0..<8).map { UInt8(truncatingIfNeeded: sum >> ($0 * 8)) }
    }

    private func number(_ number: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) } }

    private func text(_ text: String) -> [UInt8] { number(text.utf8.count) + text.utf8 }
}
