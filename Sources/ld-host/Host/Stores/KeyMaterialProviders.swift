internal import FoundationEssentials
internal import Glibc
package import HostGround
internal import HostPlugins
package import LocalDataAPI
internal import Synchronization

/// Supplies key material that a router does not keep itself: from the app's registered providers, and from descriptors
/// that were opened for the program.
package final class KeyMaterialProviders: Sendable {
    private let providers = Mutex<[KeyMaterialSource: any KeyMaterialProviding]>([:])
    /// A descriptor can be read only once, and its material may be needed again when the configuration changes.
    private let secrets = Mutex<[Int32: SecretBytes]>([:])

    /// The smallest key in bytes.
    private static let smallest = 16
    /// The most bytes to read from a descriptor.
    private static let largest = 64 << 10

    package init() {}

    package func register(_ provider: any KeyMaterialProviding, for source: KeyMaterialSource) {
        providers.withLock { $0[source] = provider }
    }

    /// Calls a provider. Nothing is cached: the provider decides at each call.
    ///
    /// - Throws: `securityApplicationFailed` with the source if it is not registered, fails, or supplies too little;
    ///   `cancelled` if it stopped because its task was cancelled.
    func material(
        of source: KeyMaterialSource, for name: String
    ) async throws(StorageError) -> SecretBytes {
        guard let provider = providers.withLock({ $0[source] }) else {
            throw StorageError(
                .securityApplicationFailed,
                "no provider is registered for the key material source '\(source.id)', which '\(name)' needs",
                hint: "call registerKeyMaterialProvider(_:for:) before the first use")
        }
        var material: Data
        do { material = try await provider.keyMaterial(for: name) } catch is CancellationError {
            throw StorageError(
                .cancelled, "the call of the key material provider '\(source.id)' for '\(name)' was cancelled")
        } catch {
            throw StorageError(
                .securityApplicationFailed,
                "the key material provider '\(source.id)' failed for '\(name)': \(error)",
                hint: "nothing was read or written; try again when it is available")
        }
        defer { material.resetBytes(in: 0..<material.count) }
        guard material.count >= Self.smallest else {
            throw StorageError(
                .securityApplicationFailed,
                "the key material provider '\(source.id)' supplied \(material.count) bytes for '\(name)'; expected at "
                    + "least \(Self.smallest)",
                hint: "supply a whole key")
        }
        return try material.withBuffer { (bytes) throws(StorageError) in try SecretBytes(copying: bytes) }
    }

    /// Calls a provider and waits. For threads that may wait, which are never those of Swift's own pool.
    func materialNow(of source: KeyMaterialSource, for name: String) throws(StorageError) -> SecretBytes {
        let answer = Answer()
        let task = Task.detached { [self] in
            let result: Result<SecretBytes, StorageError>
            do throws(StorageError) { result = .success(try await material(of: source, for: name)) } catch {
                result = .failure(error)
            }
            answer.give(result)
        }
        guard let result = answer.wait(seconds: 60) else {
            task.cancel()
            throw StorageError(
                .timedOut, "the key material provider '\(source.id)' did not answer within 60 s",
                hint: "check whether it can reach its source")
        }
        return try result.get()
    }

    /// The whole content of a descriptor, read at the first use. Waits for its end.
    ///
    /// - Throws: `securityApplicationFailed` if it cannot be read; `valueTooLarge` if it has more than 64 KiB.
    func secret(ofDescriptor number: Int32) throws(StorageError) -> SecretBytes {
        try secrets.withLock { secrets throws(StorageError) in
            if let known = secrets[number] { return known }
            let secret = try Self.readAll(number)
            secrets[number] = secret
            return secret
        }
    }

    /// Forgets the content of descriptors, which cannot be read again.
    package func forgetSecrets() { secrets.withLock { $0.removeAll() } }

    /// The content of a descriptor.
    package static func readAll(_ descriptor: Int32) throws(StorageError) -> SecretBytes {
        guard InheritedDescriptors.mayRead(descriptor) else {
            throw StorageError(
                .securityApplicationFailed,
                "a passphrase cannot be read from descriptor \(descriptor): the program was started without it",
                hint: "open it for the program, e.g. \(descriptor)<FILE")
        }
        var filled = 0
        let buffer = try SecretBytes(count: largest + 1) { (buffer) throws(StorageError) in
            while filled < buffer.count {
                let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
                let count = read(descriptor, rest.baseAddress, rest.count)
                if count < 0, errno == EINTR { continue }
                guard count >= 0 else {
                    throw StorageError(
                        .securityApplicationFailed,
                        "a passphrase cannot be read from descriptor \(descriptor): "
                            + String(cString: strerror(errno)),
                        hint: "open it for the program, e.g. \(descriptor)<FILE")
                }
                if count == 0 { break }
                filled += count
            }
        }
        guard filled <= largest else {
            throw StorageError(
                .valueTooLarge,
                "descriptor \(descriptor) supplies more than \(largest) bytes, so it is not a passphrase",
                hint: "supply only the passphrase")
        }
        return try buffer.prefix(filled)
    }

    private final class Answer: Sendable {
        private let semaphore = IdleSemaphore()
        private let result = Mutex<Result<SecretBytes, StorageError>?>(nil)

        func give(_ answer: Result<SecretBytes, StorageError>) {
            result.withLock { $0 = answer }
            semaphore.signal()
        }

        func wait(seconds: Int) -> Result<SecretBytes, StorageError>? {
            _ = semaphore.wait(for: .seconds(seconds))
            return result.withLock { $0 }
        }
    }
}

/// The descriptors that a program was started with.
package enum InheritedDescriptors {
    private static let areRequired = Atomic<Bool>(false)

    /// Lets passphrases come only from these descriptors. Any other number may be that of a file which the program has
    /// opened itself.
    package static func require() { areRequired.store(true, ordering: .relaxed) }

    /// Whether a passphrase may come from a descriptor.
    static func mayRead(_ descriptor: Int32) -> Bool {
        // What the program opens is closed on exec, so no inherited descriptor has that flag.
        !areRequired.load(ordering: .relaxed) || fcntl(descriptor, F_GETFD) & FD_CLOEXEC == 0
    }
}
