import FoundationEssentials
import Glibc
import LocalDataAPI
import TestSupport

@testable import HostPlugins
@testable import LocalDataHost

/// Plays a history on the real host, and checks each answer.
final class HistoryRun {
    /// Something that must not be.
    struct Failure: Error {
        /// One word for its kind, so that different failures of one kind count once.
        let kind: String
        let words: String
    }

    let history: History
    let homes: [HistoryHome]
    var home: HistoryHome { homes[0] }
    /// The folder through which devices sync.
    private let shared: TemporaryFolder?
    /// The code by which the second device joins the group.
    var invitation = ""
    var model: HistoryModel
    var number = 0
    /// The last backup, and what it must bring back.
    var backup: (path: String, model: HistoryModel)?
    /// The folder of the backups, which a new machine does not lose.
    let outside: TemporaryFolder
    /// What has happened so far.
    var log: [String] = []
    /// The numbers that were acknowledged on any device, by value; `nil` among them for a removal.
    private var acknowledged: [Int: Set<Int?>] = [:]
    /// How often a value was refused for a reason.
    var refusals = 0
    var reads = 0

    /// The fault that the host has; `nil` for none.
    let fault: HistoryFault?

    init(_ history: History, _ fault: HistoryFault? = nil) throws {
        (self.history, self.fault) = (history, fault)
        let devices = (history.apps.map(\.device).max() ?? 0) + 1
        let shared = devices > 1 ? try TemporaryFolder(inMemory: true) : nil
        self.shared = shared
        homes = try (0..<devices).map { _ in
            try HistoryHome(usesDatabase: history.usesDatabase, syncingThrough: shared?.path)
        }
        model = HistoryModel(history)
        outside = try TemporaryFolder(inMemory: true)
    }

    /// - Returns: The first thing that is wrong; `nil` if nothing is.
    func run() async throws -> Failure? {
        do {
            for (index, launch) in history.launches.enumerated() {
                let isLast = !history.launches[(index + 1)...].contains { $0.app == launch.app }
                try await play(launch, isLast: isLast)
            }
        } catch let failure as Failure {
            return failure
        }
        return nil
    }

    /// Closes the files that are open still. Nothing may run beside it: what closes a file of its own at this moment
    /// would close another one.
    func closeFiles() {
        for path in homes.map(\.path) + [shared?.path].compactMap(\.self) { OpenFiles.close(below: path) }
    }

    private func play(_ launch: History.Launch, isLast: Bool) async throws {
        let app = history.apps[launch.app]
        log.append("start of \(app.words) \(launch.release + 1).0")
        if homes.count > 1 { Self.awaitTick() }
        if case .restore? = launch.steps.first { try await restore() }
        try await strike(before: launch)
        let router: StorageRouter
        do { router = try await homes[app.device].start(app, launch.release) } catch {
            throw Failure(kind: "start", words: "the release cannot start: \(error)")
        }
        var launch = Session(app: launch.app, release: launch.release, router: router, steps: launch.steps)
        let code = app.releases[launch.release]
        for (value, key) in code.keys.enumerated() {
            // The catalog has said so.
            if code.cataloguesFirst { model.start(value, as: key, in: nil, on: launch.app) }
            model.start(value, as: key, in: code.subDirectory, on: launch.app)
        }
        for step in launch.steps {
            let bytes = try await bytes(before: step, launch)
            try await play(step, &launch)
            try await strike(after: step, bytes, launch)
        }
        for value in app.releases[launch.release].keys.indices where isLast && !history.unneeded.contains(value) {
            try await read(value, .get, &launch)
        }
        if isLast, !app.releases[launch.release].containers.isEmpty, history.settings > 0 {
            try await open(launch, changing: nil)
        }
        for value in model.values[launch.app].indices { note(launch, value) }
        try await strike(after: launch)
    }

    /// Waits until the clock ticks that files get their times of. What two devices set in one tick has one time, and
    /// then their ids decide which value is the later one.
    private static func awaitTick() {
        func tick() -> Int {
            var time = timespec()
            clock_gettime(CLOCK_REALTIME_COARSE, &time)
            return time.tv_nsec
        }
        let first = tick()
        while tick() == first { usleep(500) }
    }

    /// A process that runs.
    struct Session {
        let app: Int
        let release: Int
        let router: StorageRouter
        let steps: [History.Step]
        /// Values that were read so far, so that `getNow` can answer.
        var seen: Set<Int> = []
    }

    func key(_ value: Int, _ session: Session) -> HistoryKey {
        history.apps[session.app].releases[session.release].keys[value]
    }

    /// The folder of the machine that a session runs on.
    func path(of session: Session) -> String { homes[history.apps[session.app].device].path }

    /// The value may now lie where this release keeps it.
    func note(_ session: Session, _ value: Int) {
        let folder = history.apps[session.app].releases[session.release].subDirectory
        let (known, key) = (model.values[session.app][value].trail, key(value, session))
        guard known.last.map({ $0.key != key || $0.release != session.release }) ?? true else { return }
        model.values[session.app][value].trail.append((session.release, key, folder))
    }

    private func play(_ step: History.Step, _ session: inout Session) async throws {
        switch step {
        case .read(let value, let way): try await read(value, way, &session)
        case .write(let value, let way): try await write(value, way, session)
        case .writeTogether(let values): try await writeTogether(values, session)
        case .remove(let value):
            if isBehind(value, session) { return }
            try await change(session, [value], "removal", to: [nil]) {
                try await key(value, session).access(in: path(of: session)).remove(session.router)
            }
        case .open: try await open(session, changing: nil)
        case .change(let setting, let isBefore): try await open(session, changing: setting, isBefore: isBefore)
        case .migrate:
            do { _ = try await session.router.migrate() } catch { log.append("  migrate all: \(error)") }
        case .toolSet(let value): try await setWithTool(value, session)
        case .toolGet(let value): try await getWithTool(value, session)
        case .backUp: try await backUp()
        case .restore: break
        case .enterGroup: try await enterGroup(session)
        case .sync: try await sync(session)
        }
    }
}

extension HistoryRun {
    /// Whether an error says that two places have a value, which without a catalog may be those of two keys.
    private func isConflict(_ error: any Error, _ session: Session) -> Bool {
        let hasCatalogs = history.apps[session.app].releases.allSatisfy(\.hasCatalog)
        return !hasCatalogs && (error as? MigrationError)?.code == .conflict
    }

    /// Whether a later release was here that has another name for the value: this one cannot know it.
    private func isBehind(_ value: Int, _ session: Session) -> Bool {
        let name = key(value, session).name
        return model.values[session.app][value].trail.contains { $0.release > session.release && $0.key.name != name }
    }

    private func write(_ value: Int, _ way: HistoryWriting, _ session: Session) async throws {
        number += 1
        let number = number
        // Then both names would have a value, of which the migration keeps the one that it finds at its destination.
        if isBehind(value, session) { return }
        try await change(session, [value], "\(way)", to: [number]) {
            try await key(value, session).access(in: path(of: session)).write(number, way, session.router)
        }
    }

    private func writeTogether(_ values: [Int], _ session: Session) async throws {
        let values = values.filter { !isBehind($0, session) }
        let numbers = values.map { number + $0 + 1 }
        number += (values.max() ?? 0) + 1
        try await change(session, values, "batch", to: numbers) {
            let keys = try values.map { try key($0, session).access(in: path(of: session)) }
            try await session.router.batch { batch in
                for (key, number) in zip(keys, numbers) { try key.add(number, to: &batch) }
            }
        }
    }

    func change(
        _ session: Session, _ values: [Int], _ way: String, to numbers: [Int?], _ body: () async throws -> Void
    ) async throws {
        let what =
            "\(way) of \(values.map(History.name).joined(separator: ", ")): "
            + numbers.map { $0.map(String.init) ?? "nothing" }.joined(separator: ", ")
        do { try await body() } catch {
            log.append("  \(what): \(error)")
            let reasons = values.compactMap {
                model.values[session.app][$0].reasonToRefuse(key($0, session), of: session.release)
            }
            guard reasons.isEmpty, !isConflict(error, session) else { return }
            if values.contains(where: { isRenamedAmongDevices($0) && "\(error)".contains(key($0, session).name) }) {
                return
            }
            throw Failure(kind: "\(way) refused: \(Self.code(of: error))", words: "\(what) was refused: \(error)")
        }
        log.append("  \(what)")
        let releases = history.apps[session.app].releases
        for (value, number) in zip(values, numbers) {
            acknowledged[value, default: []].insert(number)
            let place = key(value, session).place
            if number != nil { model.values[session.app][value].isBrought = false }
            let others = Set(model.values[session.app][value].places.filter { $0 != place }).count
            // A catalog shows whose the last one is, but not whose those are that had a value without one.
            let most = releases.allSatisfy(\.hasCatalog) ? .max : releases[session.release].hasCatalog ? 1 : 0
            model.values[session.app][value].staysElsewhere = number == nil && others > most
            model.values[session.app][value].places.append(place)
            // To sync, the removal of what is not here is none.
            if number != nil || model.values[session.app][value].content != nil {
                model.values[session.app][value].stamp = self.number
                model.values[session.app][value].isJustRemoved = number == nil
            }
            model.values[session.app][value].content = number
            model.values[session.app][value].type = number.map { _ in key(value, session).type }
            (model.values[session.app][value].trail, model.values[session.app][value].takenType) = ([], nil)
            model.values[session.app][value].isUnknown = false
            note(session, value)
        }
    }

    private func read(_ value: Int, _ way: HistoryReading, _ session: inout Session) async throws {
        reads += 1
        let (expected, key) = (model.values[session.app][value].content, key(value, session))
        let what = "\(way) of \(History.name(of: value)), which is \(expected.map(String.init) ?? "absent")"
        let found: Int?
        do { found = try await answer(way, key, session) } catch {
            log.append("  \(what): \(error)")
            if model.values[session.app][value].isUnknown { return }
            if isRenamedAmongDevices(value) { return try requireNamed(key, error, what) }
            if way == .getNow, !session.seen.contains(value), (error as? StorageError)?.code == .unsupported { return }
            let reason = model.values[session.app][value].reasonToRefuse(key, of: session.release)
            if reason != nil || isConflict(error, session) {
                return try requireNamed(key, error, what)
            }
            throw Failure(kind: "\(way) refused: \(Self.code(of: error))", words: "\(what) was refused: \(error)")
        }
        log.append("  \(what): \(found.map(String.init) ?? "absent")")
        if model.values[session.app][value].isUnknown { return }
        if isRenamedAmongDevices(value) {
            let known = acknowledged[value] ?? []
            if found == nil ? expected == nil || known.contains(nil) : way.isBlind || known.contains(found) { return }
            throw Failure(
                kind: found == nil ? "\(way) lost" : "\(way) wrong",
                words: "\(what), gave \(found.map(String.init) ?? "nothing")")
        }
        if !way.isBlind, way != .getNow { session.seen.insert(value) }
        if !way.isBlind, found != nil, model.values[session.app][value].places.last != key.place {
            model.values[session.app][value].isBrought = true
            model.values[session.app][value].places.insert(key.place, at: 0)
        }
        guard way.isBlind ? (found == nil) == (expected == nil) : found == expected else {
            let mayComeBack = model.values[session.app][value].mayComeBack(at: key.place)
            if expected == nil, mayBeTwin(value, session) { return }
            if expected == nil, mayComeBack {
                model.values[session.app][value].isUnknown = true
                return
            }
            if isBehind(value, session) { return }
            let kind = found == nil ? "lost" : expected == nil ? "came back" : "wrong"
            throw Failure(
                kind: "\(way) \(kind)", words: "\(what), gave \(found.map(String.init) ?? "nothing")")
        }
    }

    /// Whether devices of a group know a value by different names. One device brings it to its new name, and has what
    /// is there then; which of several devices' values that is depends on which is updated first. Each shows a value
    /// that was acknowledged, or names where it is.
    private func isRenamedAmongDevices(_ value: Int) -> Bool {
        history.hasDevices && history.apps[0].releases.contains { !$0.keys[value].sources.isEmpty }
    }

    private func requireNamed(_ key: HistoryKey, _ error: any Error, _ what: String) throws {
        refusals += 1
        guard "\(error)".contains(key.name) else {
            throw Failure(kind: "unnamed", words: "\(what): the error does not name the key: \(error)")
        }
    }

    private func answer(_ way: HistoryReading, _ key: HistoryKey, _ session: Session) async throws -> Int? {
        do { return try await key.access(in: path(of: session)).read(way, session.router) } catch {
            if fault == .hidesErrors { return nil }
            throw error
        }
    }

    /// Without a catalog, a key that was never written may get a copy of one with its name.
    private func mayBeTwin(_ value: Int, _ session: Session) -> Bool {
        let releases = history.apps[session.app].releases
        let name = releases[session.release].keys[value].name
        return releases.contains { release in
            release.keys.indices.contains { $0 != value && release.keys[$0].name == name }
        }
    }

    static func code(of error: any Error) -> String {
        switch error {
        case let error as StorageError: "\(error.code)"
        case let error as MigrationError: "\(error.code)"
        default: "\(type(of: error))"
        }
    }
}
