internal import HostGround
internal import LocalDataAPI

/// Which values may have changed in the stores of this device. It is kept in memory only: at first, all may have.
struct LocalChanges {
    /// Keys whose value may have changed, unless that of every key may have.
    private(set) var dirty: Set<String> = []
    private var isAllDirty = true
    /// Keys that had neither entry nor value when the marks were last read, so that a pull need not read each of them.
    /// One that has a value since is noticed when the change is made, or with the next marks.
    private(set) var absent: Set<String> = []
    /// The marks of values that are as the keys' entries say.
    var marks: [String: UInt64] = [:]
    /// Keys that have changed since the engine was made; see ``SyncEngine/isEdited(_:)``.
    var edited: Set<String> = []

    /// The value of every key may have changed.
    mutating func noticeAll() { isAllDirty = true }

    /// The value of a key may have changed.
    ///
    /// - Parameter takesPart: Whether the key takes part in sync.
    mutating func notice(_ name: String, takesPart: Bool = true) {
        if takesPart { dirty.insert(name) }
        absent.remove(name)
    }

    /// All changes have been given a version.
    mutating func clear() { dirty = [] }

    /// Whether a key had no value when the marks were last read; says so once.
    mutating func takeAbsence(of name: String) -> Bool { !absent.isEmpty && absent.remove(name) != nil }

    /// Reduces all keys to those whose stores do not say that their values are as they were.
    mutating func find(
        in keys: SyncedKeys, _ entries: [String: SyncEntry], _ replica: any SyncReplica
    ) throws(StorageError) -> Set<String> {
        guard isAllDirty else { return dirty }
        (dirty, absent, isAllDirty) = ([], [], false)
        var isKnown = [Bool](repeating: false, count: keys.inOrder.count)
        try replica.forEachMark { key, mark in
            let name = keys.inOrder[key]
            guard let entry = entries[name] else {
                isKnown[key] = mark == nil
                if mark == nil { absent.insert(name) }
                return
            }
            guard entry.pending == nil || entry.isHeld else { return }
            isKnown[key] = if let mark { marks[name] == mark } else { entry.state?.hash == nil }
        }
        for (key, name) in keys.inOrder.enumerated() where !isKnown[key] { dirty.insert(name) }
        return dirty
    }
}
