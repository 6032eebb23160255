import FoundationEssentials
import LocalDataAPI
import TestSupport

@testable import HostStores
@testable import LocalDataHost

/// A fault of the host. It is put in by what such a host would leave behind or answer, so the host itself has no code
/// for it.
enum HistoryFault: String, CaseIterable, Codable, Sendable {
    /// Where values were written is not recorded.
    case forgetsPlaces
    /// Only what an app itself stores is recorded, and not where the host has brought it.
    case forgetsMoves
    /// What is stored in a file is recorded for some folders only.
    case forgetsOrder
    /// Of a batch, only the first change is made.
    case tearsBatches
    /// A removed value is still there.
    case keepsRemoved
    /// A write is acknowledged and not made.
    case losesWrites
    /// A value is stored with another version's tag.
    case mixesTags
    /// A value is stored at the address of another one.
    case mixesAddresses
    /// An error of reading counts as an absent value.
    case hidesErrors
    /// The version of a container is stored before its steps have run.
    case stampsEarly
    /// A setting is removed before it was written under its new key.
    case dropsSettings
    /// A backup lacks a value.
    case restoresLess
    /// What other devices have changed does not arrive.
    case syncsNothing

    /// The kinds of events in histories that show it.
    var kinds: Set<HistoryKind> {
        switch self {
        case .forgetsPlaces, .forgetsMoves: [.places, .catalogued]
        case .forgetsOrder: [.places, .returns]
        case .tearsBatches: [.batches]
        case .keepsRemoved: [.removals]
        case .losesWrites, .mixesAddresses: []
        case .mixesTags: [.chains]
        case .hidesErrors: [.chains, .downgrades]
        case .stampsEarly, .dropsSettings: [.containers]
        case .restoresLess: [.backups]
        case .syncsNothing: [.devices]
        }
    }

    /// How many histories may be needed to find it.
    static let most: UInt64 = 200
}

/// The bytes of values before a step, for faults that bring them back.
struct HistoryBytes {
    var values: [Int: Data?] = [:]
}

extension HistoryRun {
    private func stored(_ value: Int, _ session: Session) async throws -> ResolvedKey {
        let key = try key(value, session).access(in: path(of: session)).erased
        return try await session.router.access().resolveUnlisted(KeyReference(AnyStorageKey(key.descriptor)))
    }

    private func put(_ data: Data?, _ resolved: ResolvedKey) async throws {
        if let data { try await resolved.set(data) } else { _ = try await resolved.remove() }
    }

    /// What a fault needs to know before a step.
    func bytes(before step: History.Step, _ session: Session) async throws -> HistoryBytes {
        var bytes = HistoryBytes()
        switch (fault, step) {
        case (.tearsBatches, .writeTogether), (.keepsRemoved, .remove), (.losesWrites, .write(_, .property)):
            for value in step.values { bytes.values[value] = .some(try? await stored(value, session).data()) }
        case (.syncsNothing, .sync):
            for value in model.values[session.app].indices {
                bytes.values[value] = .some(try? await stored(value, session).data())
            }
        default: break
        }
        return bytes
    }

    /// Lets the fault happen that a step provokes.
    func strike(after step: History.Step, _ bytes: HistoryBytes, _ session: Session) async throws {
        let struck = fault == .tearsBatches ? Array(step.values.dropFirst()) : Array(bytes.values.keys)
        for value in struck {
            guard let before = bytes.values[value] else { continue }
            try await put(before, stored(value, session))
        }
    }

    /// Lets the fault happen that the start of a release provokes.
    func strike(before launch: History.Launch) async throws {
        let shapes = history.apps[launch.app].releases[launch.release].containers
        guard fault == .stampsEarly, let shape = shapes.first else { return }
        let key = StorageKey<Int>(
            name: "\(shape.branch).__version", domain: .userDefaults(), security: .none, owner: "", description: "")
        let resolved = try await home.program(history.apps[launch.app]).access().resolve(KeyReference(key))
        if try await resolved.data() != nil { try await resolved.set(Data("\(shape.version)".utf8)) }
    }

    /// Lets the fault happen that the end of a process provokes.
    func strike(after session: Session) async throws {
        let keys = history.apps[session.app].releases[session.release].keys
        switch fault {
        case .forgetsPlaces: try home.removePlaces { _ in true }
        case .forgetsMoves: try home.removePlaces { $0.contains("\"found\"") || $0.contains("\"left\"") }
        case .forgetsOrder: try home.removePlaces { $0.contains("\"set\"") && $0.contains("documents") }
        case .mixesTags:
            for (value, key) in keys.enumerated() {
                guard case .link(let version, let since) = key.type, version > since else { continue }
                let resolved = try await stored(value, session)
                guard let data = try? await resolved.data() else { continue }
                try await resolved.writing(versionTag: "Second").set(data)
            }
        case .mixesAddresses:
            for (value, next) in zip(keys.indices, keys.indices.dropFirst()) where keys[value].type == keys[next].type {
                guard keys[value].format == keys[next].format else { continue }
                let (first, second) = (try await stored(value, session), try await stored(next, session))
                if let data = try? await first.data() { try await second.set(data) }
            }
        case .dropsSettings:
            for shape in history.apps[session.app].releases[session.release].containers {
                for case .rename(_, let name) in shape.steps {
                    let key = StorageKey<Int>(
                        name: name, domain: .userDefaults(), security: .none, owner: "", description: "")
                    _ = try await session.router.access().resolveUnlisted(KeyReference(key)).remove()
                }
            }
        default: break
        }
    }

    /// Lets the fault happen that a restore provokes.
    func strike(afterRestoring model: HistoryModel) throws {
        guard fault == .restoresLess else { return }
        try home.loseOneFile()
    }
}
