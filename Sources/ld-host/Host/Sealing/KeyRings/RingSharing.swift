internal import HostGround
internal import LocalDataAPI

/// How machines that share a key ring lose nothing, although no lock excludes them while they seal.
///
/// - **A copy is soon stale.** Before a process seals or opens under a copy of the ring that is older than 2 s, it
///   reads the ring again. So every machine soon seals under a new active key, and soon opens nothing with a disabled
///   one.
/// - **Retiring waits.** A process that retires a key first sees that the key is not active, waits 6 s, and starts
///   again if the ring was written meanwhile. Then it takes the ring's lock of the store, searches for values that the
///   key seals, and removes the key if there are none. A value that was stored within 6 s after its copy of the ring
///   was read is found: that copy had the key as its active one, so it was read before the wait began.
/// - **A late writer looks again.** If storing a value ends 4 s or more after the copy was read, the search may have
///   missed it. The process then takes the ring's lock of the store, and returns its key to the ring if the key was
///   removed. A value that arrives in pieces is late before its last piece: then the ring is written again if the key
///   is no longer active, so that a process that waits to retire it starts again.
///
/// Times are differences of one machine's clock, which counts while the machine sleeps. No clocks are compared.
///
/// What remains is a process that is killed before it can look again, after its write was on its way for more than 4 s:
/// it was stopped, or the server held the write up. If another machine retires the key just then, the value is lost.
package enum RingSharing {
    /// The age from which on a copy of the ring is read again.
    static let freshness = Duration.seconds(2)

    /// The time from reading the copy to the end of a write from which on the write is late.
    static let lateness = Duration.seconds(4)

    /// How long a key has not been active when it is removed.
    package static let retirement = Duration.seconds(6)
}

extension MachineTime {
    /// Whether a copy of a ring that was read then must be read again.
    var isStale: Bool { age >= RingSharing.freshness }
}

extension EnvelopeKey {
    /// Whether a search for the values that the key seals may miss what is stored now.
    package var isLate: Bool { (read?.age).map { $0 >= RingSharing.lateness } ?? false }
}

extension KeyRing {
    /// Returns a key under which a value was stored late to the ring, if it was removed. May wait.
    func keepIfLate(_ key: EnvelopeKey) throws(StorageError) { if key.isLate { try keep(key, renewing: false) } }
}
