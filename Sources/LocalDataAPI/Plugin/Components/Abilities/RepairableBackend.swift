/// A store that can repair damage that blocks changes. Ability `localdata.store.repair/1`.
public protocol RepairableBackend: StorageBackend {
    /// Discards what cannot be saved, and no more; keeps it beside the store where it can. Calls `report` with a line
    /// for each step, and not at all if nothing needed repair. The host calls it only at a person's request. May wait,
    /// and may take long. Throws if the store cannot be repaired.
    func repair(_ report: (String) -> Void) throws
}
