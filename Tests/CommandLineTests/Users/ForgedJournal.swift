/// A batch's journal as another program could write it: in the right format, but unchecked.
struct ForgedJournal {
    var id = "0123456789abcdef"
    /// For each location: whether it is below the root, and its path.
    var places: [(isBelowRoot: Bool, path: String)]
    /// For each change: the index of its location, whether it has content, and its path.
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
