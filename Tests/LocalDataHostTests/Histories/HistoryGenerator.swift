import LocalDataAPI
import TestSupport

/// Makes the history of a seed, out of the kinds of events that are enabled.
struct HistoryGenerator {
    private let kinds: Set<HistoryKind>
    private let seed: UInt64
    private var random: SeededGenerator
    /// The places that the keys of the app may have.
    private var places = HistoryPlace.allCases
    /// Whether the program is used, which takes time.
    private var usesTool = false

    init(seed: UInt64, _ kinds: Set<HistoryKind>) {
        (self.seed, self.kinds) = (seed, kinds)
        random = SeededGenerator(seed: seed)
    }

    static let mostReleases = 8
    private static let mostValues = 4

    mutating func history() -> History {
        var apps = [app("app", releases: Int.random(in: 2...Self.mostReleases, using: &random))]
        if has(.secondApp, 50) { apps.append(app("other", releases: Int.random(in: 1...3, using: &random))) }
        var history = History(seed: seed, apps: apps, launches: [])
        history.usesDatabase = has(.databases, 25)
        if has(.containers, 40) {
            addContainers(to: &history)
            if !kinds.contains(.cataloguedContainers) {
                for release in history.apps[0].releases.indices { history.apps[0].releases[release].hasCatalog = false }
            }
        }
        usesTool = has(.tool, 10)
        if kinds.contains(.devices) {
            addDevice(to: &history)
        } else {
            history.launches = launches(of: history.apps)
        }
        return history
    }

    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    private mutating func has(_ kind: HistoryKind, _ percent: Int) -> Bool {
        let isDrawn = chance(percent)
        return isDrawn && kinds.contains(kind)
    }

    // MARK: Releases

    private mutating func app(_ identifier: String, releases count: Int) -> History.App {
        places = identifier == "app" ? HistoryPlace.allCases : HistoryPlace.ofOneApp
        if kinds.contains(.devices) { places = HistoryPlace.ofAllDevices }
        let isCatalogued = has(.catalogued, kinds.contains(.catalogs) ? 40 : 100)
        var keys = firstKeys(of: chance(50) ? identifier : "app")
        var past = keys.map { [$0] }
        var releases: [History.Release] = []
        var folder: String?
        for number in 0..<count {
            if number > 0 {
                // Twins stay where they are, or one would get to the other's place.
                for value in keys.indices where chance(45) && keys.count(where: { $0.name == keys[value].name }) == 1 {
                    keys[value] = changed(keys[value], past[value])
                    past[value].append(keys[value])
                }
            }
            if has(.subDirectories, 20) { folder = ["one", "two", nil].randomElement(using: &random) ?? nil }
            releases.append(
                History.Release(
                    keys: keys, hasCatalog: isCatalogued || has(.catalogs, 40), subDirectory: folder,
                    cataloguesFirst: chance(50)))
        }
        return History.App(identifier: identifier, releases: releases)
    }

    private mutating func firstKeys(of owner: String) -> [HistoryKey] {
        var keys: [HistoryKey] = []
        for number in 0..<Int.random(in: 1...Self.mostValues, using: &random) {
            if has(.twins, 15), let twin = keys.last, twin.sources.isEmpty {
                var key = twin
                let others = places.filter { $0 != twin.place && $0.protects == twin.isProtected }
                key.place = draw(others)
                if keys.filter({ $0.name == twin.name }).count == 1 {
                    keys.append(key)
                    continue
                }
            }
            var key = HistoryKey(
                owner: owner, name: "k\(number)", place: draw(places),
                type: draw([.text, .number, .record]))
            if has(.chains, 25) { key.type = .link(1, since: 1) }
            if key.type == .record, chance(20) { key.format = .plist }
            if !key.place.protects { key.isSealed = has(.policies, 20) }
            key.isSynced = kinds.contains(.devices)
            keys.append(key)
        }
        return keys
    }

    private mutating func draw<Element>(_ all: [Element]) -> Element {
        all[Int.random(in: all.indices, using: &random)]
    }

    /// A key as the next release has it.
    private mutating func changed(_ key: HistoryKey, _ past: [HistoryKey]) -> HistoryKey {
        var next = key
        if case .link(let version, let since) = key.type, version < 4, has(.chains, 50) {
            next.type = .link(version + 1, since: version > since && chance(20) ? since + 1 : since)
            return next
        }
        let isLink = if case .link = key.type { true } else { false }
        let mayRename = !isLink && (key.sources.isEmpty || kinds.contains(.skippedNames))
        if mayRename, has(.names, 20) || has(.types, 15) {
            next.name = "\(key.name)x"
            next.sources = [key]
            if has(.types, 50) {
                next.type = draw([.text, .number, .record])
                next.format = next.type == .record && chance(40) ? .plist : .json
            }
        }
        if has(.policies, 15), !next.place.protects, !next.isSealed { next.isSealed = true }
        if has(.weaker, 10) { next.isSealed = false }
        guard kinds.contains(.places), next.sources != [key] || chance(50) else { return next }
        // A suite or folder that the code names would be another key: so no place that the key has had counts there.
        let had = past.filter { $0.name == key.name }.map(\.place)
        let isReturn = has(.returns, 35)
        let allowed = places.filter { place in
            guard place != next.place, isReturn == had.contains(place) else { return false }
            guard next.sources != [key] else { return true }
            return had.allSatisfy { $0.mayBecome(place) }
                && (!next.isProtected || place.protects || next.isSealed || kinds.contains(.weaker) && isReturn)
        }
        guard !allowed.isEmpty else { return next }
        let wasProtected = next.isProtected
        next.place = draw(allowed)
        if next.place.protects {
            next.isSealed = false
        } else if wasProtected {
            next.isSealed = !has(.weaker, 30)
        }
        return next
    }

    // MARK: Containers

    private mutating func addContainers(to history: inout History) {
        var first = HistoryShape()
        first.prefix = kinds.contains(.branches) && chance(60) ? "com.company.App." : ""
        for number in 0..<Int.random(in: 1...3, using: &random) {
            first.properties.append(HistoryShape.Property(setting: number, name: "p\(number)"))
        }
        history.settings = first.properties.count
        var shapes = [first]
        for release in history.apps[0].releases.indices {
            if release > 0, chance(50) { change(&shapes, release, &history.settings) }
            history.apps[0].releases[release].containers = shapes
        }
    }

    private mutating func change(_ shapes: inout [HistoryShape], _ release: Int, _ settings: inout Int) {
        let index = Int.random(in: shapes[0].properties.indices, using: &random)
        let (branch, property) = (shapes[0].branch, shapes[0].properties[index])
        let address = "userDefaults/Other"
        switch Int.random(in: 0..<7, using: &random) {
        case 0, 1:
            shapes[0].properties[index].name = "\(property.name)r"
            shapes[0].steps.append(.rename("\(branch).\(property.name)", to: "\(branch).\(property.name)r"))
        case 2 where !property.isText:
            shapes[0].properties[index].isText = true
            shapes[0].steps.append(.text("\(branch).\(property.name)"))
        case 3 where kinds.contains(.branches), 4 where kinds.contains(.branches):
            if chance(50) { shapes[0].name += "\(release)" } else { shapes[0].prefix = "App\(release)." }
            shapes[0].formerKeys.insert("\(branch).__version", at: 0)
            shapes[0].formerNames.insert(String(branch.split(separator: ".").last ?? ""), at: 0)
            shapes[0].isUndeclared = has(.undeclared, 50)
            shapes[0].steps.append(.branch(branch, to: shapes[0].branch))
        case 5 where kinds.contains(.splits) && shapes[0].properties.count > 1:
            shapes[0].properties.remove(at: index)
            var other = HistoryShape(name: "Other", properties: shapes.count > 1 ? shapes[1].properties : [])
            other.properties.append(property)
            shapes = [shapes[0], other]
            shapes[0].steps.append(.move("\(branch).\(property.name)", to: "\(address).\(property.name)"))
        case 6 where shapes.count > 1 && !shapes[1].properties.isEmpty:
            let moved = shapes[1].properties.removeLast()
            shapes[0].properties.append(moved)
            shapes[0].steps.append(.move("\(address).\(moved.name)", to: "\(branch).\(moved.name)"))
            if shapes[1].properties.isEmpty { shapes.removeLast() }
        default:
            shapes[0].properties.append(HistoryShape.Property(setting: settings, name: "p\(settings)"))
            settings += 1
        }
    }

    // MARK: Launches

    private var readings: [HistoryReading] { HistoryReading.allCases.filter { isEnabled($0.kind) } }
    private var writings: [HistoryWriting] { HistoryWriting.allCases.filter { isEnabled($0.kind) } }
    private func isEnabled(_ kind: HistoryKind?) -> Bool { kind.map { kinds.contains($0) } ?? true }

    private mutating func launches(of apps: [History.App]) -> [History.Launch] {
        var launches: [History.Launch] = []
        var current = apps.map { _ in 0 }
        for (number, app) in apps.enumerated() where number > 0 {
            launches.append(launch(number, 0, app, isFirst: true))
        }
        launches.append(launch(0, 0, apps[0], isFirst: true))
        while current[0] < apps[0].releases.count - 1, launches.count < 14 {
            if apps.count > 1, chance(25) {
                current[1] = min(current[1] + Int.random(in: 0...1, using: &random), apps[1].releases.count - 1)
                launches.append(launch(1, current[1], apps[1], isFirst: false))
                continue
            }
            if current[0] > 0, has(.downgrades, 15) {
                current[0] -= 1
            } else {
                current[0] = min(current[0] + (has(.skips, 20) ? 2 : 1), apps[0].releases.count - 1)
            }
            launches.append(launch(0, current[0], apps[0], isFirst: false))
        }
        return launches
    }

    /// Lets a second device run the app, too, in releases of its own choice; at last, both have the same one.
    private mutating func addDevice(to history: inout History) {
        for release in history.apps[0].releases.indices { history.apps[0].releases[release].hasCatalog = true }
        var other = history.apps[0]
        other.device = 1
        history.apps.append(other)
        let last = other.releases.count - 1
        var current = [0, chance(50) ? 0 : Int.random(in: 0...last, using: &random)]
        for device in 0...1 {
            history.launches.append(launch(device, current[device], other, isFirst: true))
            history.launches[device].steps.insert(.enterGroup, at: 0)
        }
        for _ in 0..<Int.random(in: 3...8, using: &random) {
            let device = chance(50) ? 0 : 1
            if current[device] > 0, has(.downgrades, 15) {
                current[device] -= 1
            } else if chance(60) {
                current[device] = min(current[device] + (has(.skips, 20) ? 2 : 1), last)
            }
            history.launches.append(syncing(launch(device, current[device], other, isFirst: false), 50))
        }
        for device in [0, 1, 0, 1] {
            let looks = launch(device, last, other, isFirst: false).steps.filter { step in
                if case .read = step { true } else { false }
            }
            history.launches.append(syncing(History.Launch(app: device, release: last, steps: looks), 100))
        }
    }

    /// A launch with syncs: at its start, at its end, or both.
    private mutating func syncing(_ launch: History.Launch, _ percent: Int) -> History.Launch {
        var launch = launch
        if chance(percent) { launch.steps.insert(.sync, at: 0) }
        if chance(50) { launch.steps.append(.sync) }
        return launch
    }

    private mutating func launch(_ app: Int, _ release: Int, _ code: History.App, isFirst: Bool) -> History.Launch {
        var steps: [History.Step] = []
        let values = Array(code.releases[release].keys.indices)
        if has(.backups, 10), !isFirst { steps.append(.restore) }
        // A device that leads a group would sync, too.
        if chance(10), !kinds.contains(.devices) { steps.append(.migrate) }
        for value in values.shuffled(using: &random) {
            if !isFirst, chance(75) { steps.append(.read(value, draw(readings))) }
            if chance(isFirst ? 85 : 30) { steps.append(.write(value, draw(writings))) }
            if has(.removals, 6) { steps.append(.remove(value)) }
            if chance(30) { steps.append(.read(value, draw(readings))) }
        }
        if !code.releases[release].containers.isEmpty {
            for property in code.releases[release].containers.flatMap(\.properties) where chance(isFirst ? 80 : 25) {
                steps.append(.change(setting: property.setting, beforeOpening: has(.early, 25)))
            }
            if chance(70) { steps.append(.open) }
        }
        if usesTool, chance(40) {
            let value = draw(values)
            let looks = chance(50) && (!code.releases[release].keys[value].isSealed || kinds.contains(.sealedLooks))
            steps.append(looks ? .toolGet(value) : .toolSet(value))
            steps.append(.read(value, draw(readings)))
        }
        if values.count > 1, has(.batches, 15) {
            steps.append(.writeTogether(Array(values.shuffled(using: &random).prefix(2)).sorted()))
        }
        if has(.backups, 15) { steps.append(.backUp) }
        return History.Launch(app: app, release: release, steps: steps)
    }
}
