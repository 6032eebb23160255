/// The version of this host, semantic.
public enum HostVersion {
    /// The version now.
    public static let current = "0.1.0"
}
