internal import LocalDataAPI

/// Compares records that arrived with those that were published, in the order of their publication.
struct SyncArrivals {
    /// The writer and the name of a record.
    private struct Name: Hashable {
        let writer: String
        let name: String

        init(_ record: SyncRecord) { (writer, name) = (record.writer, record.name) }
    }

    private let published: [SyncRecord]
    private let found: [SyncRecord]

    init(of published: [SyncRecord], found: [SyncRecord]) {
        let writers = Set(published.map(\.writer))
        self.published = published
        self.found = found.filter { writers.contains($0.writer) }
    }

    /// The first name whose newest record has not arrived last.
    var missing: String? {
        let last = Dictionary(found.map { (Name($0), $0.content) }, uniquingKeysWith: { $1 })
        let newest = Dictionary(published.map { (Name($0), $0.content) }, uniquingKeysWith: { $1 })
        for record in published {
            let name = Name(record)
            guard last[name] != newest[name] else { continue }
            return "record '\(record.name)' of '\(record.writer)': expected \(newest[name].shown), "
                + "found \(last[name].shown)"
        }
        return nil
    }

    /// Ends the check with a failure if a record is missing, was changed, or arrived in a wrong order.
    ///
    /// - Parameter when: When they were fetched, for the message.
    func check(_ when: String) throws {
        if let missing { throw ConformanceFailure("\(when): \(missing)") }
        let known = Dictionary(
            published.enumerated().map { ($0.element, $0.offset) }, uniquingKeysWith: { $1 })
        // Records may arrive again. The last arrivals have to be in order.
        var arrivals: [SyncRecord: Int] = [:]
        for (index, record) in found.enumerated() {
            guard known[record] != nil else {
                throw ConformanceFailure(
                    "\(when): record '\(record.name)' arrived with \(record.content.shown), which nobody published")
            }
            arrivals[record] = index
        }
        var latest: [String: (place: Int, name: String)] = [:]
        for (record, _) in arrivals.sorted(by: { $0.value < $1.value }) {
            guard let place = known[record] else { continue }
            if let (last, name) = latest[record.writer], last > place {
                throw ConformanceFailure(
                    "\(when): record '\(record.name)' arrived after '\(name)', which was published later")
            }
            latest[record.writer] = (place, record.name)
        }
    }
}
