internal import CLocalData

/// The version of this host.
public enum HostVersion {
    /// The version now, semantic.
    public static let current = "0.1.0"
    /// The plugin ABI that it speaks, e.g. `1.0`; minor 0 is provisional.
    public static let abi = "\(LD_ABI_MAJOR).\(LD_ABI_MINOR)"
}
