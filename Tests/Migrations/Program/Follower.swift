internal import FoundationEssentials
internal import LocalDataAPI
internal import LocalDataHost
internal import Synchronization

/// An app whose values are always what it has set, while others switch the store under it:
/// `migration-exercise follow TIMES` counts up in a property, in a setting of a container, and in a value whose watch
/// it looks at. Writes what it finds wrong to standard error.
enum Follower {
    struct Settings: UserDefaultsContainer {
        static let version = 1
        static let prefix = "Followed."

        @Setting var number = 0
    }

    /// - Returns: Whether the words are this command.
    static func run(_ words: [String]) async throws -> Bool {
        guard words.count == 2, words[0] == "follow", let times = Int(words[1]) else { return false }
        async let property: Void = countProperty(times)
        async let container: Void = countSetting(times)
        async let watch: Void = countWatched(times)
        _ = try await (property, container, watch)
        return true
    }

    private static func key(_ name: String) -> StorageKey<Int> {
        StorageKey(
            name: name, domain: .userDefaults(suite: "follow"), security: .none, owner: "Tests",
            description: "A number.")
    }

    private static func countProperty(_ times: Int) async throws {
        let property = Stored(wrappedValue: 0, key("property"))
        try await property.projectedValue.load()
        for number in 1...times {
            property.wrappedValue = number
            try await property.projectedValue.save()
            let other = Stored(wrappedValue: 0, key("property"))
            try await other.projectedValue.load()
            if other.wrappedValue != number { complain("the property is \(other.wrappedValue), not \(number)") }
        }
    }

    private static func countSetting(_ times: Int) async throws {
        for number in 1...times {
            let settings = try await Settings.open()
            if settings.number != number - 1 { complain("the setting is \(settings.number), not \(number - 1)") }
            settings.number = number
            try await settings.$number.save()
        }
    }

    private static func countWatched(_ times: Int) async throws {
        let router = StorageRouter.shared
        let watched = key("watched")
        let changes = try await router.changes(of: watched)
        let watch = Task {
            var last = 0
            for try await value in changes {
                if value ?? 0 < last { complain("the watch passes \(value ?? 0) after \(last)") }
                last = value ?? 0
                if last == times { break }
            }
            return last
        }
        for number in 1...times { try await router.set(number, for: watched) }
        // Stores that cannot report changes are read once a second.
        let end = Task {
            try? await Task.sleep(for: .seconds(60))
            watch.cancel()
        }
        let last = try await watch.value
        end.cancel()
        if last != times { complain("the watch ends at \(last), not \(times)") }
    }

    private static func complain(_ text: String) { Program.write("\(text)\n", to: 2) }
}
