internal import HostGround
package import LocalDataAPI
internal import Synchronization

/// Which domains an open store does not serve any more, although it did in this program: what still changes them there
/// began before the configuration was changed, and is refused. The router keeps it.
package final class ServingMark: Sendable {
    /// Looks at the configuration.
    package typealias Follower = @Sendable () throws(StorageError) -> Void

    // It stays mapped.
    /// Where the page's number is.
    nonisolated(unsafe) private let current = ConfigurationPage.ofUser.place
    private let gate = SwitchGate.ofUser
    /// The page's number when the router last looked.
    private let number = Atomic<UInt64>(0)
    private let hasRetired = Atomic(false)
    private let retired = Mutex<Set<String>>([])
    private let follower: Follower

    /// - Parameter follower: Lets the router look at the configuration, and update this.
    package init(_ follower: @escaping Follower) { self.follower = follower }

    /// Notes what the router has found.
    ///
    /// - Parameters:
    ///   - number: The page's number before it looked.
    ///   - domains: The domains that other stores serve now.
    package func update(_ number: UInt64, retired domains: Set<String>) {
        retired.withLock { $0 = domains }
        hasRetired.store(!domains.isEmpty, ordering: .relaxed)
        self.number.store(number, ordering: .releasing)
    }

    /// Makes one change of the store, which waits while a store is switched.
    ///
    /// - Parameters:
    ///   - addresses: What it changes.
    ///   - store: The store's identity.
    /// - Throws: ``StorageError/superseded`` if another store serves one of the addresses now.
    @inline(__always)
    func passing<Result>(
        _ addresses: () -> [StorageAddress], in store: UInt64, _ change: () throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        if let outer = gate.outerPass {
            try look()
            try note(addresses, in: store, outer)
            return try change()
        }
        let pass = try enter(addresses, in: store)
        defer { gate.leave(pass) }
        return try change()
    }

    /// Runs `body`, whose changes belong together: no store is switched between them.
    ///
    /// - Parameter addresses: Some that it changes, of each domain.
    package func together<Result>(
        _ addresses: [StorageAddress], in store: UInt64, _ body: () throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        try gate.inside { () throws(StorageError) in
            try look()
            if let pass = gate.outerPass { try note({ addresses }, in: store, pass) }
            return try body()
        }
    }

    @inline(__always)
    private func enter(_ addresses: () -> [StorageAddress], in store: UInt64) throws(StorageError) -> SwitchGate.Pass {
        let pass = try gate.enter(store)
        if isCurrent, !pass.isTracked, !hasRetired.load(ordering: .relaxed) {
            return pass
        }
        return try enter(with: pass, addresses, in: store)
    }

    private func enter(
        with pass: SwitchGate.Pass, _ addresses: () -> [StorageAddress], in store: UInt64
    ) throws(StorageError) -> SwitchGate.Pass {
        do throws(StorageError) {
            try look()
            try note(addresses, in: store, pass)
            return pass
        } catch {
            gate.leave(pass)
            throw error
        }
    }

    /// Whether no configuration file was changed since the router last looked.
    @inline(__always)
    private var isCurrent: Bool { current.pointee.load(ordering: .acquiring) == number.load(ordering: .relaxed) }

    /// Lets the router look at the configuration if it may have changed. Who looks does not wait for the gate.
    @inline(__always)
    private func look() throws(StorageError) {
        if !isCurrent { try follower() }
    }

    /// Refuses a change of what another store serves, and notes one that a switch has to follow.
    private func note(
        _ addresses: () -> [StorageAddress], in store: UInt64, _ pass: SwitchGate.Pass
    ) throws(StorageError) {
        let isPartial = hasRetired.load(ordering: .relaxed)
        guard isPartial || pass.isTracked else { return }
        let addresses = addresses()
        if isPartial, retired.withLock({ retired in addresses.contains { retired.contains($0.place.domain) } }) {
            throw StorageError.superseded
        }
        guard pass.isTracked, !gate.openIfLeft() else { return }
        try ChangeLog.ofUser.note(addresses, in: store)
    }
}

extension StorageError {
    /// The configuration was changed while a call was under way, and another store serves its value now.
    package static let superseded = StorageError(
        Code(rawValue: -4),
        "the configuration was changed meanwhile, and another store serves the value now; nothing "
            + "was changed", hint: "try again")
}
