/// A store that can make itself usable again when damage keeps it from being changed. Ability
/// `localdata.store.repair/1`.
public protocol RepairableBackend: StorageBackend {
    /// Gives up what cannot be saved and no more, keeps what it gives up beside the store where it can, and calls
    /// `report` with a line for each thing that it did; not at all if there was nothing to repair. Called only when a
    /// person asks for it. May wait, and may take long. Throws if the store cannot be repaired.
    func repair(_ report: (String) -> Void) throws
}
