internal import CSecret
internal import Glibc
internal import LocalDataAPI

extension SecretStore {
    /// Unlocks an object for all waiting threads; a person is asked once.
    func unlock(_ path: String, _ link: Link, _ work: String) throws {
        let patience = Deadline(seconds: options.promptTimeout + 2 * options.timeout)
        try unlocking.once(until: patience) { () throws(StorageError) in
            let service = Service(link: link, deadline: Deadline(seconds: options.timeout))
            do {
                try finish(service.unlock(path), service)
            } catch let error as StorageError {
                throw error
            } catch is Locked {
                throw lockedError(work)
            } catch let failure as BusFailure where failure.isMissingObject {
                // The object is gone; the call that needs it will notice.
            } catch let failure as BusFailure {
                throw StorageError(failure, "unlocking \(options.collection)", isChange: false, options)
            } catch { throw StorageError(.unknown, "\(error)") }
        }
    }

    /// Waits for the prompt of a service call, if there is one, and returns the prompt's result.
    @discardableResult
    func finish(_ prompt: String?, _ service: Service) throws -> Variant? {
        guard let prompt else { return nil }
        guard options.promptTimeout > 0 else { throw Locked(path: prompt) }
        let deadline = Deadline(seconds: options.timeout)
        switch try Prompt(link: service.link, path: prompt).ask(seconds: options.promptTimeout, until: deadline) {
        case .completed(let result): return result
        case .unanswered:
            throw StorageError(
                .timedOut,
                "nobody answered the secret service's prompt for \(options.collection) within "
                    + "\(options.promptTimeout) s",
                hint: "unlock it first, or raise option 'promptTimeout'")
        case .dismissed where isWithoutScreen(service):
            throw StorageError(
                .keychainError,
                "\(options.collection) is locked or missing, and there is no screen to ask for its password on",
                hint: "unlock it first: gnome-keyring-daemon --unlock reads the login's password from standard input")
        case .dismissed:
            throw StorageError(
                .cancelled, "the secret service's prompt for \(options.collection) was dismissed",
                hint: "repeat the call and answer it, or unlock the collection in seahorse")
        }
    }

    /// Whether the service is gnome-keyring without a screen: it reports a prompt as dismissed when its prompt program
    /// does not start.
    private func isWithoutScreen(_ service: Service) -> Bool {
        guard getenv("DISPLAY") == nil, getenv("WAYLAND_DISPLAY") == nil else { return false }
        func owner(_ name: String) -> String? {
            let method = BusMethod(
                "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetNameOwner", .tuple(.string(name)), answer: "(s)")
            let deadline = Deadline(seconds: options.timeout)
            return try? service.link.call(method, of: "org.freedesktop.DBus", until: deadline)[0]?.text
        }
        guard let keyring = owner("org.gnome.keyring"), keyring == owner(Link.serviceName) else { return false }
        return owner("org.gnome.keyring.SystemPrompter") == nil
    }

    /// Creates the collection; returns its path.
    func makeCollection(_ service: Service) throws -> String {
        switch options.collection {
        case .login, .session:
            throw StorageError(
                .storeUnavailable, "the secret service has no collection of that kind: \(options.collection)",
                hint: "log in with a password, or set option 'collection' to default")
        case .standard, .labelled: break
        }
        let answer = try service.make(options.collection)
        let path = try answer.path ?? finish(answer.prompt, service)?.text
        guard let path, path != "/" else {
            throw StorageError(.keychainError, "the secret service did not create \(options.collection)")
        }
        if case .labelled(let label) = options.collection { service.link.keep(path, ofCollection: label) }
        return path
    }
}
