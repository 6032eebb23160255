import FoundationEssentials
import TestSupport
import Testing

/// A device of a campaign: a home in which one process syncs and another one changes values.
struct SyncedDevice {
    /// The output of `ld-host sync status`.
    struct Status: Decodable {
        /// The device's id.
        let device: String
        let members: Int
        let isJoining: Bool
        let isComplete: Bool
        let pending: Int
        let removalsToAccept: Int

        /// Whether nothing is left to publish or receive, as far as this device knows.
        var isSettled: Bool { isComplete && !isJoining && pending == 0 }
    }

    let number: Int
    let home: Home
    private let keys: CampaignKeys
    private let supervisor: Supervisor

    init(_ number: Int, _ keys: CampaignKeys, over carrier: any Carrier, _ supervisor: Supervisor) throws {
        home = try Home()
        (self.number, self.keys, self.supervisor) = (number, keys, supervisor)
        try Data(keys.catalog.utf8).write(to: URL(filePath: "\(home.path)/catalog"))
        try home.done("config", "set", "catalogs", "[\"\(home.path)/catalog\"]")
        try carrier.connect(home, number: number)
    }

    private var watch: String { "watch-\(number)" }
    private var editor: String { "editor-\(number)" }
    private static let exercise = "\(BuiltProducts.folder)/migration-exercise"

    func startSyncing() throws {
        try supervisor.start(
            watch, [BuiltProducts.host, "sync", "watch"], environment: home.environment, output: "\(home.path)/changed")
    }

    /// Kills the process that syncs.
    ///
    /// - Throws: If it has ended by itself.
    func stopSyncing() throws { try supervisor.kill(watch) }

    /// Starts the process that changes values, continuing where the last one was killed.
    ///
    /// - Parameter last: The number of the last change.
    func startEditing(through last: Int) throws {
        let record = recorded()
        guard !record.isEnded else { return }
        let numbers = [number, record.last + 1, last, keys.shared, 5].map(String.init)
        try supervisor.start(
            editor, [Self.exercise, "edit"] + numbers, environment: home.environment, output: "\(home.path)/edits")
    }

    func stopEditing() throws { try supervisor.kill(editor) }

    /// The changes that the editing processes have recorded.
    func recorded() -> EditLog.Device {
        EditLog.Device((try? String(contentsOfFile: "\(home.path)/edits", encoding: .utf8)) ?? "")
    }

    func status() throws -> Status {
        // Its status is 2 while removals wait for consent.
        try JSONDecoder().decode(Status.self, from: Data(try home.run("sync", "status", "--json").output))
    }

    /// The labels of all values, by the names of their keys.
    func values() throws -> [String: String] {
        let lines = try exercise("values", "\(keys.count)").split(separator: "\n").map { $0.split(separator: " ") }
        return Dictionary(uniqueKeysWithValues: lines.map { (String($0[0]), String($0[1])) })
    }

    /// The labels of the values that lost a conflict here. Reading them makes them current for a moment, so this comes
    /// last.
    func losers() throws -> [String] { try exercise("losers").split(separator: "\n").map(String.init) }

    private func exercise(_ words: String...) throws -> String {
        let ending = try home.run(Self.exercise, words, deadline: .seconds(3600))
        #expect(ending.status == 0, "device \(number), \(words): \(ending.errors)")
        return ending.text
    }
}

/// The keys of a campaign: some that all devices change, and some that `ld-host set` sets once.
struct CampaignKeys {
    let shared: Int
    let single: Int

    var count: Int { shared + single }

    static func name(_ number: Int) -> String { "shared-key-\(number)" }

    /// A manifest with all of the keys.
    var catalog: String {
        let keys = (0..<count).map {
            """
            {"address":"userDefaults/\(Self.name($0))","security":"none","serializer":"json","type":"String",
            "owner":"Tests","description":"A shared value.","availability":"all","sync":"automaticSmall"}
            """
        }
        return "{\"format\":1,\"name\":\"Campaign\",\"keys\":[\(keys.joined(separator: ","))]}"
    }
}
