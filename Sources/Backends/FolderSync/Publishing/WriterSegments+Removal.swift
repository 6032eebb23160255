import DurableFiles

extension WriterSegments {
    /// Removes the segments that a base makes unnecessary, when the base has had some time to arrive everywhere, or
    /// another one has followed it.
    ///
    /// - Parameters:
    ///   - linger: That time, in seconds.
    ///   - abandoned: The age in seconds at which a file counts as left behind by a process that ended while it wrote.
    func removeUnneeded(linger: Double, abandoned: Double) throws {
        let bases = segments.filter { $0.base != nil }
        var covered: [SegmentName: Int] = [:]
        for base in bases where base.name != bases.last?.name || isOld(base, linger) {
            covered.merge(base.base?.covered ?? [:]) { max($0, $1) }
        }
        var hasRemoved = false
        for name in try directory.segmentNames() {
            let goes =
                if let segment = segments.first(where: { $0.name == name }) {
                    // More of an unfinished file may be on its way, as a copying program brings it back.
                    try !directory.hasChanged(name, within: linger) && !isNeeded(segment, beyond: covered)
                        && covered[name] ?? 0 >= end(of: name) ?? 0
                } else {
                    try !directory.hasChanged(name, within: abandoned)
                }
            guard goes else { continue }
            try directory.removeEntry(name.path)
            hasRemoved = true
        }
        if hasRemoved { try directory.synchronizeEntries() }
    }

    private func isOld(_ base: SegmentHeader, _ seconds: Double) -> Bool {
        Double(base.name.stamp) + seconds * 1_000_000 <= Double(Publisher.now)
    }
}
