internal import DurableFiles
internal import Glibc
internal import LocalDataPluginAPI
internal import ServerAccess

/// Keeps values in a PostgreSQL database, which many machines can share.
///
/// A namespace is a row of the table `place`, a value one of the table `value`; ``SchemaSteps`` defines them. The first
/// connection creates or upgrades the tables. Folders of namespaces are ignored.
///
/// - **Connections.** Opening the store only checks the options. The first call connects; each call does so again if
///   the server was restarted. A call without a server fails with `storeUnavailable`, which names the host and the
///   reason.
/// - **Passwords.** A server that does not show who runs it, by a verified certificate or by the system user behind its
///   socket, gets no password that it does not know; see ``ServerProof``. That includes those on loopback addresses.
/// - **Ownership.** Each connection checks that no other role could have put code into the schema; see ``SchemaAudit``.
/// - **Durability.** A change is complete when the server has confirmed its commit with `synchronous_commit` on, or
///   `remote_apply`. The store raises a lower default of the user or the database, so that a commit waits for the disk,
///   and for the disk of a synchronous standby. It cannot change `fsync` and `full_page_writes`: if one of them is off,
///   it logs a warning.
/// - **Lost answers.** If the connection is lost during a change, the store finds out what became of it. It repeats it
///   only if it certainly was not made, so it never replaces what others have stored since; see ``WriteOutcome``. It
///   throws `timedOut` if it does not find out within the time limit.
/// - **Poolers.** The store works through PgBouncer in session and in transaction mode. It notices a pooler by the
///   number of the server process, and then relies on nothing that outlives a transaction.
/// - **Damage.** Each value has a checksum (CRC-32C); a value with other bytes fails with `corrupt`.
/// - **Memory.** Values are cleared from the store's own buffers, but not from those of libpq.
final class PostgreSQLStore: StorageBackend {
    static let component = ComponentInfo(
        id: "postgresql", summary: "keeps values in a PostgreSQL database, for many machines",
        options: PostgreSQLOptions.list)

    let properties: StoreProperties
    let pool: Pool
    let listener: Listener
    private let largestValue: Int

    /// Opens a store; does not connect yet.
    ///
    /// - Throws: `invalidOptions` for a URI with a password, or over the network without `verify-full`, and for other
    ///   options that make no sense.
    init(options: ComponentOptions, host: HostServices) throws {
        let options = try PostgreSQLOptions(options)
        largestValue = options.largestValue
        properties = StoreProperties(
            latency: .network, isDurable: true, isShared: true, largestValue: UInt64(largestValue))
        pool = Pool(options, log: host.log)
        listener = Listener(pool)
    }

    func resolve(_ address: StorageAddress) throws -> PostgreSQLKey {
        guard !address.name.isEmpty else {
            throw StorageError(.invalidAddress, "the name in '\(address.place)/' is empty", hint: "give the key a name")
        }
        return PostgreSQLKey(address)
    }

    func get(_ key: PostgreSQLKey, _ deliver: (RawSpan) -> Void) throws -> Bool {
        try value(key) { _, value in deliver(value) } != nil
    }

    func exists(_ key: PostgreSQLKey) throws -> Bool {
        try pool.read("looking for '\(key.address)'") { link, deadline in
            try row(.exists, key, link, deadline) != nil
        }
    }

    func set(_ key: PostgreSQLKey, to value: RawSpan, attributes: ValueAttributes?) throws {
        try check(value.byteCount)
        try value.withUnsafeBytes { bytes in
            _ = try change([Write(key, .set(bytes, attributes))], "writing '\(key.address)'")
        }
    }

    func remove(_ key: PostgreSQLKey) throws -> Bool {
        try change([Write(key, .remove)], "removing '\(key.address)'").removed
    }

    /// Makes changes and reports them to watches, also if their outcome is unknown.
    func change(_ writes: [Write], _ work: @autoclosure () -> String) throws -> Changed {
        try requireChangeable()
        do {
            let changed = try pool.change(writes, work())
            if changed.failed.isEmpty { listener.tell(writes, changed.numbers) }
            return changed
        } catch let error as StorageError where error.code == .timedOut {
            listener.tell(writes, [])
            throw error
        }
    }

    /// Refuses a change of a frozen store.
    func requireChangeable() throws {
        guard pool.options.isFrozen else { return }
        throw StorageError(
            .unsupported, "the store at \(pool.hosts) is frozen: it shows its values, and changes none",
            hint: "use a store without the option 'frozen'")
    }

    /// Refuses a value that is too large.
    func check(_ count: Int) throws {
        guard count > largestValue else { return }
        throw StorageError(
            .valueTooLarge, "the value has \(count) bytes; the store accepts at most \(largestValue)",
            hint: "raise option 'largestValue', or map the domain to a store for large values")
    }

    /// The row that a statement finds for a key; `nil` if absent. Its first column says whether it has not expired.
    ///
    /// - Throws: `ValueExpired`.
    func row(_ statement: StoreStatement, _ key: PostgreSQLKey, _ link: ServerLink, _ deadline: Deadline) throws
        -> ResultRows?
    {
        guard let number = try pool.schema.number(of: key.place, adding: false, link, until: deadline) else {
            return nil
        }
        let answer = try link.exchange([StatementCall(statement, [.short(number), .lent(key.name)])], until: deadline)
            .first
        guard let answer, answer.count == 1 else { return nil }
        guard answer.integer(0) != 0 else { throw ValueExpired() }
        return answer
    }
}

extension PostgreSQLStore: AttributedBackend {
    func attributes(of key: PostgreSQLKey) throws -> ValueAttributes? {
        try pool.read("reading the attributes of '\(key.address)'") { link, deadline in
            try row(.attributes, key, link, deadline).map { ValueAttributes($0, row: 0, from: 1) }
        }
    }
}

extension ValueAttributes {
    /// Reads the columns of attributes, beginning at the given one.
    init(_ answer: ResultRows, row: Int, from first: Int32) {
        self.init(
            contentType: answer.text(first + 2, row: row), serializer: answer.text(first + 3, row: row),
            versionTag: answer.text(first + 4, row: row), appVersion: answer.text(first + 5, row: row),
            owner: answer.text(first + 6, row: row), size: UInt64(clamping: answer.integer(first, row: row)),
            modified: answer.integer(first + 1, row: row),
            expires: answer.isNull(first + 7, row: row) ? nil : answer.integer(first + 7, row: row))
    }
}
