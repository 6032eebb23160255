internal import LocalDataPluginAPI

extension StorageError {
    /// Converts a failure on the bus into the store's error.
    ///
    /// - Parameters:
    ///   - work: The action and its object.
    ///   - isChange: Whether a call may have changed something.
    init(_ failure: BusFailure, _ work: String, isChange: Bool, _ options: ServiceOptions) {
        switch failure {
        case .noBus:
            self.init(
                .storeUnavailable,
                "there is no session bus for \(work): DBUS_SESSION_BUS_ADDRESS is not set, and there is no socket "
                    + "'bus' in XDG_RUNTIME_DIR",
                hint: "log in to a session, use dbus-run-session, or route the domain to a store without a service")
        case .unreachable(let address, let reason):
            self.init(
                .storeUnavailable, "the session bus at '\(address)' cannot be reached for \(work): \(reason)",
                hint: "start the session again, or check DBUS_SESSION_BUS_ADDRESS")
        case .silent:
            self.init(
                .timedOut,
                "the secret service did not answer within \(options.timeout) s, \(work)"
                    + (isChange ? "; whether the change was made is unknown" : ""),
                hint: "check whether the service hangs, restart it, or raise option 'timeout'")
        case .gone where isChange:
            self.init(
                .timedOut, "the secret service ended during the call, \(work); whether the change was made is unknown",
                hint: "check the value, then repeat the change")
        case .gone:
            self.init(
                .storeUnavailable, "the secret service ended during the call, \(work)", hint: "repeat the call")
        case .answered where failure.isMissingService:
            self.init(
                .storeUnavailable, "there is no secret service on the session bus, \(work)",
                hint: "install and start one, such as gnome-keyring, or route the domain to a store without a service")
        case .answered("org.freedesktop.DBus.Error.AccessDenied", let message):
            self.init(
                .permissionDenied, "the bus or the secret service refuses access, \(work): \(message)",
                hint: "check the policy of the session bus, and whether a sandbox blocks the service"
            )
        case .answered(let name, let message):
            self.init(.keychainError, "the secret service failed, \(work): \(message) (\(name))")
        case .other(let reason): self.init(.keychainError, "the secret service cannot be used, \(work): \(reason)")
        }
    }
}
