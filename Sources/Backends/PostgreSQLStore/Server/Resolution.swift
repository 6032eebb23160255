internal import CPostgreSQL
internal import Glibc
internal import ServerAccess
internal import Synchronization

/// The lookup of a host's addresses on a thread of its own. libpq looks names up itself, but then waits for the name
/// server for as long as the system does, whatever the deadline.
final class Resolution: @unchecked Sendable {
    // The lock and the condition have fixed addresses as long as this object lives; `result` changes under the lock.
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let ended = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var result: Result<[String], Failure>?
    private let host: String

    /// Why a name has no address.
    struct Failure: Error { let reason: String }

    /// The lookups that are running, so that callers who ask again for a name whose server hangs share one thread.
    private static let running = Mutex<[String: Resolution]>([:])

    /// The addresses of a host.
    static func addresses(of host: String, until deadline: Deadline) throws(Failure) -> [String] {
        let resolution = try running.withLock { running throws(Failure) in
            if let resolution = running[host] { return resolution }
            let resolution = Resolution(host)
            try resolution.start()
            running[host] = resolution
            return resolution
        }
        return try resolution.wait(until: deadline)
    }

    private init(_ host: String) {
        self.host = host
        lock.initialize(to: pthread_mutex_t())
        ended.initialize(to: pthread_cond_t())
        pthread_mutex_init(lock, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(ended, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(ended)
        pthread_mutex_destroy(lock)
        lock.deallocate()
        ended.deallocate()
    }

    private func start() throws(Failure) {
        let code = DetachedThread.start { self.run() }
        guard code == 0 else {
            throw Failure(reason: "no thread that looks up its name can be created: error \(code)")
        }
    }

    private func run() {
        let found = Result { () throws(Failure) in try Self.lookUp(host) }
        Self.running.withLock { $0[host] = nil }
        pthread_mutex_lock(lock)
        result = found
        pthread_cond_broadcast(ended)
        pthread_mutex_unlock(lock)
    }

    private func wait(until deadline: Deadline) throws(Failure) -> [String] {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        var time = deadline.time
        while result == nil, pthread_cond_timedwait(ended, lock, &time) != ETIMEDOUT {}
        guard let result else { throw Failure(reason: "its name could not be looked up in time") }
        return try result.get()
    }

    private static func lookUp(_ host: String) throws(Failure) -> [String] {
        var wanted = addrinfo()
        wanted.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, nil, &wanted, &list)
        guard code == 0 else {
            throw Failure(reason: "its name has no address: \(String(cString: gai_strerror(code)))")
        }
        defer { freeaddrinfo(list) }
        var addresses: [String] = []
        var next = list
        while let entry = next?.pointee {
            var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            if getnameinfo(
                entry.ai_addr, entry.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0
            {
                addresses.append(String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
            }
            next = entry.ai_next
        }
        return addresses
    }
}

extension PostgreSQLAddress {
    /// Whether a host is written as an address, which nobody needs to look up.
    private static func isAddress(_ host: String) -> Bool {
        var address = in6_addr()
        return inet_pton(AF_INET, host, &address) == 1 || inet_pton(AF_INET6, host, &address) == 1
    }

    /// The same with the addresses of its name, so that connecting does not look the name up.
    func resolved(until deadline: Deadline) throws(LinkFailure) -> PostgreSQLAddress {
        guard let host = parameters["host"], !host.hasPrefix("/"), !host.hasPrefix("@"), parameters["hostaddr"] == nil,
            secure_getenv("PGHOSTADDR") == nil, !Self.isAddress(host)
        else { return self }
        let addresses: [String]
        do { addresses = try Resolution.addresses(of: host, until: deadline) } catch {
            throw .lost(Loss(host: name, reason: error.reason, isLate: deadline.isOver))
        }
        guard !addresses.isEmpty else { return self }
        var server = self
        server.parameters["host"] = Array(repeating: host, count: addresses.count).joined(separator: ",")
        server.parameters["hostaddr"] = addresses.joined(separator: ",")
        return server
    }
}
