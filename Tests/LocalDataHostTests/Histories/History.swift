/// Releases of one app and of a second one beside it, and what their users do: which seed it comes from, in words, and
/// as the calls that are made.
struct History: Sendable {
    /// One release of an app: the keys in its code, by the value that each stands for.
    struct Release: Sendable {
        var keys: [HistoryKey]
        var hasCatalog: Bool
        /// The sub-directory that it sets for its files.
        var subDirectory: String?
        /// Whether it registers its catalog before it sets the sub-directory.
        var cataloguesFirst = false
        var containers: [HistoryShape] = []
    }

    struct App: Sendable {
        var identifier: String
        var releases: [Release]
        /// The device that it runs on: the second one syncs with the first.
        var device = 0

        var words: String { device == 0 ? identifier : "\(identifier) on device \(device + 1)" }
    }

    /// A user starts a release of an app.
    struct Launch: Sendable {
        var app: Int
        var release: Int
        var steps: [Step]
    }

    /// What is done between start and end of a process.
    enum Step: Sendable {
        case read(Int, HistoryReading)
        case write(Int, HistoryWriting)
        case writeTogether([Int])
        case remove(Int)
        /// Opens the containers, and looks at all settings.
        case open
        /// Changes a setting after its container is open, or before.
        case change(setting: Int, beforeOpening: Bool)
        /// A person sets a value with the program, or looks at it.
        case toolSet(Int)
        case toolGet(Int)
        case migrate
        case backUp
        case restore
        /// The device makes the sync group, or joins it.
        case enterGroup
        case sync
    }

    var seed: UInt64
    var apps: [App]
    var launches: [Launch]
    /// Whether the app's preferences are in a database rather than in files.
    var usesDatabase = false
    /// The number of settings that the app's containers have or had.
    var settings = 0
    /// Values of the app that are left out of the last look, since a failure does not need them.
    var unneeded: Set<Int> = []
}

extension History {
    /// Whether several devices sync.
    var hasDevices: Bool { apps.contains { $0.device > 0 } }

    /// The name of a value, in words.
    static func name(of value: Int) -> String { "value \(value)" }

    /// What happens, line by line.
    var words: String {
        var lines = ["seed \(seed)\(usesDatabase ? ", userDefaults in a database" : "")"]
        for (number, app) in apps.enumerated() where launches.contains(where: { $0.app == number }) {
            var before: [HistoryKey?] = []
            let started = Set(launches.filter { $0.app == number }.map(\.release))
            for (index, release) in app.releases.enumerated() where started.contains(index) {
                var parts = [release.hasCatalog ? "catalogue" : "no catalogue"]
                if let folder = release.subDirectory {
                    parts.append("sub-directory \(folder)\(release.cataloguesFirst ? ", set after the catalogue" : "")")
                }
                lines.append("\(app.words) \(index + 1).0 (\(parts.joined(separator: ", "))):")
                for (value, key) in release.keys.enumerated() where isUsed(value, in: app.identifier) {
                    let isSame = before.indices.contains(value) && before[value] == key
                    lines.append("    \(Self.name(of: value)): \(isSame ? "the same key" : key.words)")
                }
                before = release.keys
                lines += usesContainers(of: number) ? release.containers.map { "    \($0.words)" } : []
            }
        }
        return lines.joined(separator: "\n")
    }

    private func usesContainers(of app: Int) -> Bool {
        launches.contains { launch in launch.app == app && launch.steps.contains { $0.isOfContainer } }
    }

    /// Whether a step of an app is about a value, on whichever device.
    private func isUsed(_ value: Int, in identifier: String) -> Bool {
        launches.contains { launch in
            apps[launch.app].identifier == identifier && launch.steps.contains { $0.values.contains(value) }
        }
    }
}

extension History {
    /// What two histories that show the same have in common.
    var signature: String {
        launches.map { launch in
            let release = apps[launch.app].releases[launch.release]
            let sources = launch.steps.flatMap(\.values).map { release.keys[$0].sources.count }
            let containers = settings == 0 ? [] : release.containers.flatMap(\.changes)
            return "\(launch.release) \(release.hasCatalog) \(sources) \(launch.steps.map(\.shape)) \(containers)"
        }.joined(separator: "; ")
    }
}

extension History.Step {
    /// The values that it is about.
    var values: [Int] {
        switch self {
        case .read(let value, _), .write(let value, _), .remove(let value), .toolSet(let value), .toolGet(let value):
            [value]
        case .writeTogether(let values): values
        case .open, .change, .migrate, .backUp, .restore, .enterGroup, .sync: []
        }
    }

    var isOfContainer: Bool {
        switch self {
        case .open, .change: true
        default: false
        }
    }

    /// What kind of step it is.
    var shape: String {
        switch self {
        case .read(_, let way): "\(way)"
        case .write(_, let way): "\(way)"
        default: words
        }
    }

    var words: String {
        func names(_ values: [Int]) -> String { values.map(History.name).joined(separator: ", ") }
        return switch self {
        case .read(let value, let way): "\(way) \(names([value]))"
        case .write(let value, let way): "write \(names([value])) by \(way)"
        case .writeTogether(let values): "one batch of \(names(values))"
        case .remove(let value): "remove \(names([value]))"
        case .open: "open"
        case .change(let setting, let isBefore): "set s\(setting)\(isBefore ? " before opening" : "")"
        case .toolSet(let value): "ld-host set \(names([value]))"
        case .toolGet(let value): "ld-host get \(names([value]))"
        case .migrate: "migrate all"
        case .backUp: "back up"
        case .restore: "restore the last backup on a new machine"
        case .enterGroup: "enter the sync group"
        case .sync: "sync"
        }
    }
}
