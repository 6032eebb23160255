internal import Glibc

/// What Swift's runtime takes: with less it does not report an error, but ends the process with a signal, or hangs.
enum ResourceLimits {
    private static let descriptors: rlim_t = 32
    private static let addressSpace: rlim_t = 192 << 20

    /// Raises what is set too low as far as this process may. Ends it with a sentence where that is not far enough.
    static func require() {
        if let most = raised(RLIMIT_NOFILE, to: descriptors) {
            refuse("this process may have \(most) files open; expected \(descriptors) or more", "ulimit -n 1024")
        }
        if let most = raised(RLIMIT_AS, to: addressSpace) {
            refuse(
                "this process may use \(most >> 20) MiB of address space; expected \(addressSpace >> 20) MiB or more",
                "ulimit -v unlimited")
        }
    }

    /// - Returns: The limit, if it stays too low.
    private static func raised(_ resource: __rlimit_resource, to least: rlim_t) -> rlim_t? {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(resource.rawValue), &limit) == 0, limit.rlim_cur < least else { return nil }
        limit.rlim_cur = min(least, limit.rlim_max)
        setrlimit(__rlimit_resource_t(resource.rawValue), &limit)
        return limit.rlim_cur < least ? limit.rlim_cur : nil
    }

    private static func refuse(_ what: String, _ command: String) {
        Output.complain(what, hint: "raise the limit: \(command), or the service's LimitNOFILE= or LimitAS=")
        exit(ExitStatus.failure.code)
    }
}
