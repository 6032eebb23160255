import DurableFiles
import Synchronization

/// A watch that remembers what it was told.
final class Listener: Sendable {
    private let heard = Heard()
    private let watch: FolderWatch

    init(_ path: String) throws {
        let heard = heard
        watch = try FolderWatch(path, entersFolder: { $0.last == UInt8(ascii: "~") }) { heard.add($0) }
    }

    var told: [FolderChange] { heard.all }

    /// Waits for a change, or for the word that there may have been any, and forgets what was told until then; `false`
    /// if it does not come.
    func hears(_ change: FolderChange) -> Bool { heard.take(change) }

    func end() { watch.end() }
}

/// Changes, and whoever waits for one.
private final class Heard: Sendable {
    private let state = Mutex<(changes: [FolderChange], waiting: (change: FolderChange, gate: Gate)?)>(([], nil))

    var all: [FolderChange] { state.withLock { $0.changes } }

    func add(_ change: FolderChange) {
        state.withLock { state in
            state.changes.append(change)
            guard let waiting = state.waiting, change == waiting.change || change == .anything else { return }
            state.waiting = nil
            waiting.gate.open()
        }
    }

    func take(_ change: FolderChange) -> Bool {
        let gate = Gate()
        state.withLock { state in
            if state.changes.contains(where: { $0 == change || $0 == .anything }) {
                gate.open()
            } else {
                state.waiting = (change, gate)
            }
        }
        let isThere = gate.wait()
        state.withLock { state in
            state.waiting = nil
            let index = state.changes.firstIndex { $0 == change || $0 == .anything }
            if let index { state.changes.removeFirst(index + 1) }
        }
        return isThere
    }
}

/// Whether something was told after it had ended.
final class Flags: Sendable {
    private let hasEnded = Atomic<Bool>(false)
    private let wasTold = Atomic<Bool>(false)

    var isTold: Bool { wasTold.load(ordering: .acquiring) }

    func tell() { if hasEnded.load(ordering: .acquiring) { wasTold.store(true, ordering: .releasing) } }

    func end() { hasEnded.store(true, ordering: .releasing) }
}
