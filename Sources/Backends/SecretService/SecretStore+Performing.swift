internal import LocalDataAPI

extension SecretStore {
    /// Runs `body` on a link, again if the service has changed or something is unlocked, and says in the terms of the
    /// store's errors what went wrong.
    ///
    /// - Parameter unlocks: Whether somebody may be asked for a password.
    func perform<Result>(
        _ work: String, unlocks: Bool = true, _ body: (Service) throws -> Result
    ) throws -> Result {
        // Each is far more than what happens to one call, and an end to what never gets better.
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
                // The person's time is not the service's.
                deadline = Deadline(seconds: options.timeout)
            } catch let failure as BusFailure {
                if failure.isForgottenSession, let link = service?.link, attempts.sessions > 0 {
                    attempts.sessions -= 1
                    keeper.drop(link)
                } else if failure.isMissingObject, attempts.races > 0 {
                    // What was found a moment ago has been removed.
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
            .keychainError, "\(options.collection) is locked: \(work) needs its password, which nobody was asked for",
            hint: "unlock it in seahorse or by logging in, or let option 'promptTimeout' be more than 0")
    }
}
