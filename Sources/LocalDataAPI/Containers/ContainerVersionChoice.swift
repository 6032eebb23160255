/// Which of two versions counts. A container has two if an earlier release, with another version key, has stored
/// settings after a later one had migrated those that were there.
public enum ContainerVersionChoice: Hashable, Sendable {
    /// What the later release has stored. The values of the earlier one stay under their keys, where nothing reads
    /// them.
    case current
    /// What the earlier release has stored: its values replace those of the later one.
    case former
}
