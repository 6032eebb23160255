internal import CLocalData
internal import LocalDataAPI

/// The version of this host.
public enum HostVersion {
    /// The current semantic version.
    public static let current = "0.1.0"
    /// The version of the plugin ABI, e.g. `1.1`. It loads plugins of every minor of this major from 1 on.
    public static let abi = "\(LD_ABI_MAJOR).\(LD_ABI_MINOR)"
}
