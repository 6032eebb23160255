internal import Synchronization

/// What the steps of a container say when they run without effect: which prefixes they move, which version keys they
/// name, and what they find.
final class ContainerProbe: Sendable {
    private struct State {
        /// By the version before the step.
        var shifts: [Int: [ContainerShift]] = [:]
        var versionKeys: [Int: [(from: String, to: String)]] = [:]
        var others: [ContainerDefinition] = []
        var failure: (any Error)?
    }

    private let state = Mutex(State())

    /// Takes note of a move of a prefix.
    func note(_ shift: ContainerShift, by step: Int) { state.withLock { $0.shifts[step, default: []].append(shift) } }

    /// Takes note of a former version key that a step names.
    func note(versionKey: String, to new: String, by step: Int) {
        state.withLock { $0.versionKeys[step, default: []].append((versionKey, new)) }
    }

    /// Takes note of another container, with which a step exchanges values.
    func note(other: ContainerDefinition) { state.withLock { $0.others.append(other) } }

    /// Takes note of a call that can never work.
    func note(failure: any Error) { state.withLock { $0.failure = $0.failure ?? failure } }

    /// Why a step can never work, if one of its calls says so.
    var failure: (any Error)? { state.withLock { $0.failure } }

    /// The containers with which steps exchange values.
    var others: [ContainerDefinition] { state.withLock { $0.others } }

    /// The moves of prefixes by the step from a version.
    func shifts(from version: Int) -> [ContainerShift] { state.withLock { $0.shifts[version] ?? [] } }

    /// The version keys that the step from a version names.
    func versionKeys(from version: Int) -> [(from: String, to: String)] {
        state.withLock { $0.versionKeys[version] ?? [] }
    }
}
