import DurableFiles
import Synchronization
import TestSupport

/// A watch that remembers what it was told.
final class Listener: Sendable {
    private let heard = Recorder<FolderChange>()
    private let watch: FolderWatch

    init(_ path: String) throws {
        let heard = heard
        watch = try FolderWatch(path, entersFolder: { $0.last == UInt8(ascii: "~") }) { heard.add($0) }
    }

    var told: [FolderChange] { heard.all }

    /// Waits for a change, or for the word that there may have been any, and forgets what was told until then; `false`
    /// if it does not come.
    func hears(_ change: FolderChange) -> Bool { heard.take { $0 == change || $0 == .anything } != nil }

    func end() { watch.end() }
}

/// Whether something was told after it had ended.
final class Flags: Sendable {
    private let hasEnded = Atomic<Bool>(false)
    private let wasTold = Atomic<Bool>(false)

    var isTold: Bool { wasTold.load(ordering: .acquiring) }

    func tell() { if hasEnded.load(ordering: .acquiring) { wasTold.store(true, ordering: .releasing) } }

    func end() { hasEnded.store(true, ordering: .releasing) }
}
