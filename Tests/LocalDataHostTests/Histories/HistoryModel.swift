/// What must be true of the values of a history, as simple as it can be said: the last acknowledged content of each.
struct HistoryModel {
    /// What is known of one value.
    struct Value {
        /// The last acknowledged number; `nil` if the value was never written, or was removed.
        var content: Int?
        /// Whether it may have been lost, or be any of several contents, without anybody's fault.
        var isUnknown = false
        /// Where it was at any time; last, where it was stored or removed last.
        var places: [HistoryPlace] = []
        /// Whether the host has brought the last content to where the key is.
        var isBrought = false
        /// Whether it was removed when nothing showed that what is at other places is not another key's: it stays then.
        var staysElsewhere = false
        /// The declarations under which a copy of it may lie somewhere, the latest last.
        var trail: [(release: Int, key: HistoryKey, subDirectory: String?)] = []
    }

    /// By app and value.
    var values: [[Value]]
    /// The numbers in the settings of the first app's containers.
    var settings: [Int?]
    /// The latest release that has opened its containers.
    var opened = 0

    init(_ history: History) {
        values = history.apps.map { app in app.releases[0].keys.map { _ in Value() } }
        settings = Array(repeating: nil, count: history.settings)
    }
}

extension HistoryModel.Value {
    /// Whether a value that was removed may be found by a key at `place`: without a catalog, it is still where it was
    /// before, and is only known for the key's if it was brought from there.
    func mayComeBack(at place: HistoryPlace) -> Bool {
        staysElsewhere && (!isBrought || places.dropLast().contains(place))
    }

    /// Why a release may refuse to read this value with an error; `nil` if it has no reason to.
    func reasonToRefuse(_ key: HistoryKey, of release: Int) -> String? {
        for earlier in trail where earlier.key != key {
            let old = earlier.key
            if old.isProtected, !key.isProtected { return "the key protects less than \(old.words) did" }
            if earlier.release > release { return "release \(earlier.release + 1) was here" }
            if key.andSources.contains(where: {
                $0.name == old.name && $0.place == old.place && $0.isSealed != old.isSealed
            }) {
                return "another policy"
            }
            if case .link(let version, _) = old.type, case .link(_, let since) = key.type, version < since {
                return "the chain no longer reads version \(version)"
            }
        }
        return nil
    }
}
