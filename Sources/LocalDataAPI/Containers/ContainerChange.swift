/// A difference between two versions of a container.
public enum ContainerChange: Hashable, Sendable {
    /// A setting has another name or key. A guess, unless two settings have the same name.
    case propertyRenamed(from: String, to: String)
    /// A setting is gone.
    case propertyRemoved(String)
    /// A setting is new.
    case propertyAdded(String)
}
