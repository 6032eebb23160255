internal import LocalDataAPI

/// What this device has to publish. The sets follow from the entries, so that a restart finds them again; the rest is
/// kept in memory only.
package struct Outbox {
    /// Keys with a record to publish.
    private(set) var duties: Set<String> = []
    /// Keys with a version that no member publishes.
    private(set) var orphans: Set<String> = []
    /// Keys whose removal was made by another device, and is published by nobody.
    private(set) var unpublishedRemovals: Set<String> = []
    /// Keys with records that a transport has lost.
    private(set) var lost: Set<String> = []
    /// Keys with values that are too large to be published.
    var tooLarge: Set<String> = []
    /// The status that this process has published last; `nil` if one is to be published in any case.
    var lastStatus: SyncStatus?
    /// The counter of the last record that was published while this device was a member, as far as it knew.
    var publishedAsMember: UInt64 = 0
    /// Whether this process has given out a counter.
    var hasCounted = false

    /// The keys with a record that can be published.
    package var pending: Set<String> { duties.subtracting(tooLarge) }

    /// Sorts a key in by what is due for it.
    mutating func sort(_ name: String, _ entry: SyncEntry?, _ due: SyncEngine.Due) {
        lost.set(name, entry?.lost.isEmpty == false)
        unpublishedRemovals.set(name, due.isUnpublishedRemoval)
        duties.set(name, due.duty != .none)
        orphans.set(name, due.isOrphan)
    }
}

extension Set<String> {
    /// Inserts or removes a name.
    mutating func set(_ name: String, _ isIn: Bool) {
        if isIn { insert(name) } else if !isEmpty { remove(name) }
    }
}
