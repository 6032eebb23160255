/// Keys for which a version of others waits. The sets follow from the entries, so that a restart finds them again.
struct Parking {
    /// Keys whose removal waits until the pull is complete, or for consent.
    private(set) var held: Set<String> = []
    /// Keys with a record that is kept aside, since this device's software cannot use it.
    private(set) var parked: Set<String> = []
    /// Whether what is kept aside was not looked at yet: the app may have been updated.
    var mayUseParked = true

    /// Sorts a key in by its entry.
    mutating func sort(_ name: String, _ entry: SyncEntry?) {
        held.set(name, entry?.isHeld ?? false)
        parked.set(name, entry?.isParked ?? false)
    }
}
