internal import HostTransfer
internal import LocalDataAPI
internal import Synchronization

/// Whether there is a reason to pull: the transport may have something new, or it is time to look.
final class SyncNews: Sendable {
    private let isThere = Atomic<Bool>(false)
    private let isToSave = Atomic<Bool>(false)
    private let savesNext = Atomic<Bool>(false)
    private let signal: AsyncStream<Void>.Continuation

    init(_ signal: AsyncStream<Void>.Continuation) { self.signal = signal }

    func add() {
        isThere.store(true, ordering: .releasing)
        signal.yield()
    }

    /// Whether there was one since the last call.
    func take() -> Bool { isThere.exchange(false, ordering: .acquiringAndReleasing) }

    /// Whether the next turn has to save all by itself, since the last call.
    func takeSaving() -> Bool { savesNext.exchange(false, ordering: .acquiringAndReleasing) }

    /// Saves how far sync has come in a second, once for all turns until then: while values change all the time, that
    /// is one write a second and not one for each. What another process that synced meanwhile has kept from being
    /// saved, a turn finds out again and saves: processes that ask once a second do not keep it back for ever.
    func saveLater(_ device: SyncDevice) {
        guard device.isToSave, !isToSave.exchange(true, ordering: .acquiringAndReleasing) else { return }
        Task {
            try? await Task.sleep(for: .seconds(1))
            isToSave.store(false, ordering: .releasing)
            guard (try? await device.saveDue()) != true else { return }
            savesNext.store(true, ordering: .releasing)
            add()
        }
    }
}
