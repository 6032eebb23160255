/// The ways to write this machine as the host of a server.
public enum LoopbackHost {
    /// Whether a host is `localhost` or a loopback address.
    public static func contains(_ host: String) -> Bool {
        if host == "localhost" || host == "::1" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}
