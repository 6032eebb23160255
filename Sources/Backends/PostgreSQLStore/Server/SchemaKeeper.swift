internal import LocalDataPluginAPI
internal import ServerAccess
internal import Synchronization

/// Creates and upgrades the tables of a store. Many processes may do so at once: a lock in the transaction lets one of
/// them work, and the others find its result.
final class SchemaKeeper: Sendable {
    private struct State {
        /// The number that was drawn when the tables were created; `nil` before the first connection.
        var identity: Int64?
        /// The numbers of known namespaces, whose rows are never removed.
        var places: [StorageNamespace: Int32] = [:]
        /// The one that was asked for last: most calls in a row are for one.
        var latest: (place: StorageNamespace, number: Int32)?

        mutating func number(of place: StorageNamespace) -> Int32? {
            if let latest, latest.place == place { return latest.number }
            guard let number = places[place] else { return nil }
            latest = (place, number)
            return number
        }
    }

    private static let mostPlaces = 10_000
    private let schema: String
    private let audit: SchemaAudit
    private let state = Mutex(State())

    init(_ options: PostgreSQLOptions) {
        schema = options.schema
        audit = SchemaAudit(schema, owner: options.owner)
    }

    /// Makes sure that the tables have this version's layout, and that no other role could have put its code into them.
    ///
    /// - Throws: `unsupported` for tables of a later version, `permissionDenied` for what belongs to another role,
    ///   ``LinkFailure`` if the link fails, and `permissionDenied` or another `StorageError` if the server refuses to
    ///   create the tables.
    func prepare(_ link: ServerLink, until deadline: Deadline) throws {
        do {
            if try found(link, until: deadline) != SchemaSteps.all.count { try upgrade(link, until: deadline) }
        } catch LinkFailure.refused(let error) {
            throw StorageError(error, "creating the tables in schema '\(schema)'", link.host)
        }
    }

    /// The version of the existing tables; 0 if there are no tables.
    private func found(_ link: ServerLink, until deadline: Deadline) throws -> Int {
        // Reads the catalog itself: within a transaction, the server does not notice that a name which it looked up in
        // vain has been created since.
        let there = """
            SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = '\(schema)' AND c.relname = 'store'
            """
        let answers = try link.exchange([audit.call, StatementCall(text: there)], until: deadline)
        try audit.check(answers.first, link.host)
        guard answers.last?.count == 1 else { return 0 }
        let read = "SELECT version, identity FROM \"\(schema)\".store"
        guard let row = try link.exchange([StatementCall(text: read)], until: deadline).first, row.count == 1 else {
            return 0
        }
        let (version, identity) = (Int(row.integer(0)), row.integer(1))
        guard version <= SchemaSteps.all.count else {
            throw StorageError(
                .unsupported,
                "the tables in schema '\(schema)' at \(link.host) have version \(version); "
                    + "this version knows up to \(SchemaSteps.all.count)",
                hint: "upgrade LocalData on this machine")
        }
        state.withLock { state in
            // Other tables, such as those of a restored backup, number their namespaces differently.
            if state.identity != identity { state = State(identity: identity) }
        }
        return version
    }

    private func upgrade(_ link: ServerLink, until deadline: Deadline) throws {
        try link.exchange(
            [StatementCall(.begin), StatementCall(text: "SELECT pg_advisory_xact_lock(\(SchemaSteps.lock))")],
            until: deadline)
        do {
            let version = try found(link, until: deadline)
            var calls = SchemaSteps.all.dropFirst(version).joined().map { step in
                StatementCall(text: step.replacing("$SCHEMA", with: schema))
            }
            calls.append(StatementCall(text: "UPDATE \"\(schema)\".store SET version = \(SchemaSteps.all.count)"))
            calls.append(audit.call)
            // Another role may have created the schema meanwhile.
            try audit.check(link.exchange(calls, until: deadline).last, link.host)
            try link.exchange([StatementCall(.commit)], until: deadline)
        } catch {
            _ = try? link.exchange([StatementCall(.rollback)], until: deadline)
            throw error
        }
        _ = try found(link, until: deadline)
    }
}

extension SchemaKeeper {
    /// The number of a namespace; `nil` if it is absent and not to be added.
    func number(
        of place: StorageNamespace, adding: Bool, _ link: ServerLink, until deadline: Deadline
    ) throws -> Int32? {
        if let known = state.withLock({ $0.number(of: place) }) { return known }
        let address = [Parameter(place.domain), Parameter(place.scope)]
        let calls = (adding ? [StatementCall(.addPlace, address)] : []) + [StatementCall(.findPlace, address)]
        guard let row = try link.exchange(calls, until: deadline).last, row.count == 1 else { return nil }
        let number = Int32(truncatingIfNeeded: row.integer(0))
        state.withLock { state in
            if state.places.count >= Self.mostPlaces { state.places = [:] }
            state.places[place] = number
        }
        return number
    }
}
