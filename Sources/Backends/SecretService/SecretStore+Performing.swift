internal import LocalDataAPI

extension SecretStore {
    /// Runs `body` on a link, and again if the service has restarted or a collection was unlocked. Converts failures
    /// into the store's errors.
    ///
    /// - Parameter unlocks: Whether a person may be asked for a password.
    func perform<Result>(
        _ work: String, unlocks: Bool = true, _ body: (Service) throws -> Result
    ) throws -> Result {
        // Limits far above what one call normally meets, so that a persistent failure ends.
        var attempts = (sessions: 2, locks: 3, races: 20)
        var deadline = Deadline(seconds: options.timeout)
        while true {
            var service: Service?
            do {
                let open = Service(link: try keeper.link(until: deadline), deadline: deadline)
                service = open
                return try body(open)
            } catch let locked as Locked {
                guard let link = service?.link, unlocks, attempts.locks > 0 else { throw lockedError(work) }
                attempts.locks -= 1
                try unlock(locked.path, link, work)
                // The person's time does not count as the service's.
                deadline = Deadline(seconds: options.timeout)
            } catch let failure as BusFailure {
                if failure.isForgottenSession, let link = service?.link, attempts.sessions > 0 {
                    attempts.sessions -= 1
                    keeper.drop(link)
                } else if failure.isMissingObject, attempts.races > 0 {
                    // An object that was found a moment ago has been removed.
                    attempts.races -= 1
                } else {
                    if case .gone = failure, let link = service?.link { keeper.drop(link) }
                    throw StorageError(failure, work, isChange: service?.effects.mayHaveChanged ?? false, options)
                }
            }
        }
    }

    func lockedError(_ work: String) -> StorageError {
        StorageError(
            .keychainError, "\(options.collection) is locked, and \(work) needs its password",
            hint: "unlock it in seahorse or by logging in, or set option 'promptTimeout' above 0")
    }
}
