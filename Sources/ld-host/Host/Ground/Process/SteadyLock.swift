internal import ByteCoding
internal import DurableFiles
internal import Glibc
internal import LocalDataAPI
internal import Synchronization

/// Keeps apart who works on whole stores, and who switches one: of each state folder either some of the former, or one
/// of the latter. It is a lock of the shared page's file, which ends with its process.
final class SteadyLock: Sendable {
    /// It is held as long as this lives.
    final class Hold: Sendable {
        private let lock: SteadyLock
        private let scope: UInt64

        fileprivate init(_ lock: SteadyLock, _ scope: UInt64) { (self.lock, self.scope) = (lock, scope) }

        deinit { lock.end(scope) }
    }

    /// What this program has of one.
    private struct Own {
        /// How many hold it together.
        var count = 0
        var isAlone = false
    }

    private let page: SharedPage
    private let own = Mutex<[UInt64: Own]>([:])

    init(_ page: SharedPage) { self.page = page }

    /// What stands for a state folder, whatever its spelling. It need not exist.
    static func scope(of folder: String) -> UInt64 {
        // The number of the lock's byte is positive, and beyond those of the page.
        StableHash.of(Array(StoreLocation.resolved(folder).utf8)) >> 2 | 1 << 40
    }

    /// Takes it. May wait.
    ///
    /// - Parameters:
    ///   - alone: Whether nobody else may hold it.
    ///   - end: How long it waits.
    ///   - busy: The error if that is not enough, with a process that holds it.
    func hold(
        _ scope: UInt64, alone: Bool, until end: ContinuousClock.Instant, _ busy: (Int32) -> StorageError
    ) throws(StorageError) -> Hold {
        var pause = LockPause(from: 100, to: 20_000)
        while !begin(scope, alone: alone) {
            guard ContinuousClock.now < end else { throw busy(holder(of: scope).pointee.load(ordering: .relaxed)) }
            pause.take()
        }
        holder(of: scope).pointee.store(getpid(), ordering: .relaxed)
        return Hold(self, scope)
    }

    private func begin(_ scope: UInt64, alone: Bool) -> Bool {
        own.withLock { all in
            var own = all[scope] ?? Own()
            guard !own.isAlone, !alone || own.count == 0 else { return false }
            guard own.count > 0 || page.take(byte: Int(scope), shared: !alone) else { return false }
            own.count += 1
            own.isAlone = alone
            all[scope] = own
            return true
        }
    }

    private func end(_ scope: UInt64) {
        own.withLock { all in
            guard let count = all[scope]?.count, count > 1 else {
                all[scope] = nil
                page.letGo(byte: Int(scope))
                return
            }
            all[scope]?.count = count - 1
        }
    }

    /// The last process that took it, for messages; two folders may share a place.
    private func holder(of scope: UInt64) -> UnsafeMutablePointer<Atomic<Int32>> {
        page.content(at: Self.holders, as: Atomic<Int32>.self) + Int(scope % Self.places)
    }

    private static let holders = 1024
    private static let places: UInt64 = 256
}
