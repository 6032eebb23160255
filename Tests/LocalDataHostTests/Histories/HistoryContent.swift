import LocalDataAPI

/// What a value of a history contains: a number, in a type of its own.
protocol HistoryContent: Codable, Equatable, Sendable {
    init(history number: Int)
    /// The number; -1 if the value was never made from one.
    var historyNumber: Int { get }
}

extension Int: HistoryContent {
    init(history number: Int) { self = number }
    var historyNumber: Int { self }
}

extension String: HistoryContent {
    init(history number: Int) { self = "value \(number)" }
    var historyNumber: Int { split(separator: " ").last.flatMap { Int($0) } ?? -1 }
}

struct HistoryRecord: HistoryContent {
    var title: String
    var count: Int

    init(history number: Int) { (title, count) = ("record", number) }
    var historyNumber: Int { count }
}

/// The versions of a value with a chain.
enum HistoryLink {
    struct First: HistoryContent {
        var text: String
        init(history number: Int) { text = "\(number)" }
        var historyNumber: Int { Int(text) ?? -1 }
    }

    struct Second: HistoryContent {
        var text: String
        var tags: [String]
        init(history number: Int) { (text, tags) = ("\(number)", []) }
        var historyNumber: Int { Int(text) ?? -1 }
    }

    struct Third: HistoryContent, VersionedValue {
        static let version = 3
        var title: String
        var tags: Set<String>
        init(history number: Int) { (title, tags) = ("\(number)", ["a", "b"]) }
        var historyNumber: Int { Int(title) ?? -1 }
    }

    struct Fourth: HistoryContent, VersionedValue {
        static let version = 4
        var title: String
        var pages: [Int]
        init(history number: Int) { (title, pages) = ("page", [number]) }
        var historyNumber: Int { pages.first ?? -1 }
    }
}

/// The type of a value in one release.
enum HistoryType: Hashable, Sendable {
    case text, number, record
    /// The current version of a chain, and the oldest one that it still reads.
    case link(Int, since: Int)

    /// Whether a key of this type, whose name is the same, can read what was written as another one.
    func canRead(_ written: HistoryType) -> Bool {
        guard case .link(let version, let since) = self, case .link(let known, _) = written else { return true }
        return (since...version).contains(known)
    }

    var words: String {
        switch self {
        case .text: "String"
        case .number: "Int"
        case .record: "Record"
        case .link(let version, let since): "Link\(version), which reads from Link\(since) on"
        }
    }
}
