import DurableFiles
import Synchronization
import TestSupport

/// Records the changes that a watch reports.
final class Listener: Sendable {
    private let heard = Recorder<FolderChange>()
    private let watch: FolderWatch

    init(_ path: String) throws {
        let heard = heard
        watch = try FolderWatch(path, entersFolder: { $0.last == UInt8(ascii: "~") }) { heard.add($0) }
    }

    var told: [FolderChange] { heard.all }

    /// Waits for a change, or for a report that anything may have changed, and discards the earlier reports; `false` if
    /// neither comes.
    func hears(_ change: FolderChange) -> Bool { heard.take { $0 == change || $0 == .anything } != nil }

    func end() { watch.end() }
}

/// Records whether a watch reported anything after its end.
final class Flags: Sendable {
    private let hasEnded = Atomic<Bool>(false)
    private let wasTold = Atomic<Bool>(false)

    var isTold: Bool { wasTold.load(ordering: .acquiring) }

    func tell() { if hasEnded.load(ordering: .acquiring) { wasTold.store(true, ordering: .releasing) } }

    func end() { hasEnded.store(true, ordering: .releasing) }
}
