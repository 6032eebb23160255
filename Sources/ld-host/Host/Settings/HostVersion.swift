internal import CLocalData

/// The version of this host.
public enum HostVersion {
    /// The current semantic version.
    public static let current = "0.1.0"
    /// The version of the plugin ABI, e.g. `1.0`; minor 0 is provisional.
    public static let abi = "\(LD_ABI_MAJOR).\(LD_ABI_MINOR)"
}
