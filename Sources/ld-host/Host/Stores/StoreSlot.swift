internal import ByteCoding
package import HostGround
package import LocalDataAPI
internal import Synchronization

/// A configured store, opened once, at its first use, and never closed. Snapshots with the same configuration of a
/// store share its slot.
package final class StoreSlot: Sendable {
    /// How the store is opened.
    private struct Plan {
        var open: @Sendable (OpenStore?) throws(StorageError) -> OpenStore
        /// The folders that stand for placeholders in the store's options, and in which its locks are.
        var folders: HostSettings.Folders
    }

    package let settings: HostSettings.Store
    private let plan: Mutex<Plan>
    private let opened = Mutex<OpenStore?>(nil)
    private let isOpening = Atomic(false)

    init(
        settings: HostSettings.Store, folders: HostSettings.Folders,
        open: @escaping @Sendable (OpenStore?) throws(StorageError) -> OpenStore
    ) {
        self.settings = settings
        plan = Mutex(Plan(open: open, folders: folders))
    }

    /// The open store, if it has been used.
    package var current: OpenStore? { opened.withLock { $0 } }

    /// Forgets the keys of an open sealed store. A store that is being opened right now has none yet.
    package func forgetKeys() { _ = opened.withLockIfAvailable { $0?.sealing?.forgetKeys() } }

    /// Lets the slot serve a changed configuration: a store that is not open yet is opened as it says, with the plugins
    /// that it finds. An open store stays as it is.
    ///
    /// - Returns: Whether the slot can: not if the store is open with other folders, unless it uses none, or is being
    ///   opened with them.
    func adopt(
        _ folders: HostSettings.Folders, _ open: @escaping @Sendable (OpenStore?) throws(StorageError) -> OpenStore
    ) -> Bool {
        plan.withLock { plan in
            if plan.folders != folders {
                switch isLasting() {
                case .some(nil): plan.folders = folders
                case .some(false): return true
                case .some(true), nil: return false
                }
            }
            plan.open = open
            return true
        }
    }

    /// Whether the open store's values outlive the process; `.some(nil)` if it is not open, `nil` if it is being
    /// opened.
    private func isLasting() -> Bool?? {
        while true {
            if let isLasting = opened.withLockIfAvailable({ $0.map { !$0.isGoneWithProcess } }) { return isLasting }
            // Nobody waits here for a store that asks for a passphrase, say. Others hold the lock for a moment only: to
            // give up then would open the store a second time.
            if isOpening.load(ordering: .acquiring) { return nil }
        }
    }

    /// Opens the store if it is not open. May wait; the next call retries after a failure.
    package func openIfNeeded() throws(StorageError) -> OpenStore {
        try opened.withLock { opened throws(StorageError) in
            if let store = opened { return store }
            isOpening.store(true, ordering: .releasing)
            defer { isOpening.store(false, ordering: .releasing) }
            let store = try plan.withLock { $0.open }(nil)
            opened = store
            return store
        }
    }

    /// The store once more, for one thread, frozen if its component can do that; see ``StoreOpener/frozenOption``. May
    /// wait.
    package func openFrozen() throws(StorageError) -> OpenStore { try plan.withLock { $0.open }(openIfNeeded()) }
}
