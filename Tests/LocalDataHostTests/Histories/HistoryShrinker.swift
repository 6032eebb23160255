/// Leaves out of a failing history what its failure does not need.
struct HistoryShrinker {
    let kind: String

    func shortest(_ history: History) async throws -> History {
        var history = history
        var isShorter = true
        while isShorter {
            isShorter = false
            for index in history.launches.indices.reversed() {
                var shorter = history
                shorter.launches.remove(at: index)
                if !shorter.launches.isEmpty, try await fails(shorter) { (history, isShorter) = (shorter, true) }
            }
            for index in history.launches.indices {
                for step in history.launches[index].steps.indices.reversed() {
                    var shorter = history
                    shorter.launches[index].steps.remove(at: step)
                    if try await fails(shorter) { (history, isShorter) = (shorter, true) }
                }
            }
            for value in 0..<(history.apps[0].releases[0].keys.count) where !history.unneeded.contains(value) {
                var shorter = history
                shorter.unneeded.insert(value)
                if try await fails(shorter) { (history, isShorter) = (shorter, true) }
            }
            if history.settings > 0, !history.launches.contains(where: { $0.steps.contains(where: \.isOfContainer) }) {
                var shorter = history
                shorter.settings = 0
                if try await fails(shorter) { (history, isShorter) = (shorter, true) }
            }
            for launch in history.launches.indices {
                for index in history.launches[launch].steps.indices {
                    guard let simpler = history.launches[launch].steps[index].simpler else { continue }
                    var shorter = history
                    shorter.launches[launch].steps[index] = simpler
                    if try await fails(shorter) { (history, isShorter) = (shorter, true) }
                }
            }
            for app in history.apps.indices where history.apps[app].device == 0 {
                for release in history.apps[app].releases.indices {
                    guard release > 0 else { continue }
                    var shorter = history
                    shorter.apps[app].releases[release].keys = history.apps[app].releases[release - 1].keys
                    guard shorter.apps[app].releases[release].keys != history.apps[app].releases[release].keys else {
                        continue
                    }
                    if try await fails(shorter) { (history, isShorter) = (shorter, true) }
                }
                for release in history.apps[app].releases.indices {
                    var shorter = history
                    shorter.apps[app].releases[release].subDirectory = nil
                    if history.apps[app].releases[release].subDirectory != nil, try await fails(shorter) {
                        (history, isShorter) = (shorter, true)
                    }
                    shorter = history
                    shorter.apps[app].releases[release].hasCatalog = false
                    // Without one, nothing is synced.
                    if !history.hasDevices, history.apps[app].releases[release].hasCatalog, try await fails(shorter) {
                        (history, isShorter) = (shorter, true)
                    }
                }
            }
        }
        return history
    }

    private func fails(_ history: History) async throws -> Bool {
        var history = history
        // All devices have the same releases.
        for app in history.apps.indices where history.apps[app].device > 0 {
            history.apps[app].releases = history.apps[0].releases
        }
        let run = try HistoryRun(history)
        let found = try await run.run()?.kind
        run.closeFiles()
        guard let found else { return false }
        return Self.general(found) == Self.general(kind)
    }

    /// The kind of a failure, whichever call shows it.
    private static func general(_ kind: String) -> [Substring] {
        let words = kind.split(separator: " ")
        return HistoryReading(rawValue: String(words[0])) == nil ? words : ["read"] + words.dropFirst()
    }
}

extension History.Step {
    /// The same with the usual call; `nil` if it is that already.
    fileprivate var simpler: History.Step? {
        switch self {
        case .read(let value, let way) where way != .get: .read(value, .get)
        case .write(let value, let way) where way != .set: .write(value, .set)
        case .change(let setting, true): .change(setting: setting, beforeOpening: false)
        default: nil
        }
    }
}
