import Foundation
import LocalDataAPI
import LocalDataHost
import TestSupport
import Testing

/// `$A` is the store's user in statements, `$M` another role, and `$S` the store's schema.
@Suite("What another role could have put into the schema of a PostgreSQL store")
struct OwnershipTests {
    private let server: PostgreSQLServer
    private let user: String
    private let other: String
    private let schema: String

    init() throws {
        server = try PostgreSQLServer.shared.get()
        schema = OpenStore.newSchema()
        (user, other) = ("app_\(schema)", "mallory_\(schema)")
        // Two sessions cannot grant rights on one database at the same time.
        try run(
            """
            SELECT pg_advisory_xact_lock(3);
            CREATE ROLE $A LOGIN; CREATE ROLE $M LOGIN; GRANT CREATE ON DATABASE postgres TO $A, $M
            """)
    }

    private func filled(_ text: String) -> String {
        text.replacing("$A", with: user).replacing("$M", with: other).replacing("$S", with: schema)
    }

    @discardableResult
    private func run(_ statements: String) throws -> [String] { try server.run(filled(statements)) }

    private func store(_ role: String, _ options: [String: ComponentOption.Value] = [:]) throws -> OpenStore {
        try OpenStore(server.uri(role), schema: schema, options)
    }

    /// Expects that each call is refused, and that the error names what is wrong and the role.
    private func expectRefusal(_ text: String, _ role: String) throws {
        let store = try store(user)
        for call in [{ _ = try store.get("name") }, { try store.set("name", "value") }] {
            let error = #expect(throws: StorageError.self) { try call() }
            #expect(error?.code == .permissionDenied, "\(String(describing: error))")
            let message = error.map { "\($0)" } ?? ""
            #expect(message.contains(filled(text)), "\(message)")
            #expect(message.contains("'\(filled(role))'") && message.contains("127.0.0.1:\(server.port)"), "\(message)")
        }
    }

    @Test("does not run: a role that creates the schema first sees nothing that the user may see")
    func first() throws {
        try run("CREATE SCHEMA private_$S; CREATE TABLE private_$S.cards (number text)")
        try run("INSERT INTO private_$S.cards VALUES ('4111-1111'); GRANT USAGE ON SCHEMA private_$S TO $A")
        try run("GRANT SELECT ON private_$S.cards TO $A")
        try store(other).set("bait", "value")
        try run(
            """
            SET ROLE $M;
            CREATE TABLE $S.loot (who text, card text);
            GRANT ALL ON SCHEMA $S TO $A;
            GRANT ALL ON ALL TABLES IN SCHEMA $S TO $A;
            GRANT ALL ON ALL SEQUENCES IN SCHEMA $S TO $A;
            CREATE FUNCTION $S.copy() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN INSERT INTO $S.loot SELECT current_user, number FROM private_$S.cards; RETURN NULL; END $$;
            CREATE TRIGGER t AFTER INSERT ON $S.value FOR EACH ROW EXECUTE FUNCTION $S.copy()
            """)
        try expectRefusal("schema $S", "$M")
        #expect(try run("SELECT count(*) FROM $S.loot") == ["0"])
        // The option says that the role may do what the user may.
        try store(user, ["owner": .string(other)]).set("name", "value")
        #expect(try run("SELECT who, card FROM $S.loot") == ["\(user)|4111-1111"])
    }

    @Test("is refused, and named with its owner, however the role came to have it", arguments: Planted.foreign)
    func foreign(_ statements: String, _ expected: String) throws {
        try store(user).set("name", "value")
        try run("CREATE SCHEMA own_$S AUTHORIZATION $M; GRANT USAGE ON SCHEMA own_$S TO PUBLIC")
        try run(
            """
            CREATE FUNCTION own_$S.holds(bytea) RETURNS bool IMMUTABLE LANGUAGE sql AS 'SELECT true';
            ALTER FUNCTION own_$S.holds(bytea) OWNER TO $M;
            CREATE FUNCTION own_$S.moment() RETURNS timestamptz LANGUAGE sql AS 'SELECT now()';
            ALTER FUNCTION own_$S.moment() OWNER TO $M;
            CREATE FUNCTION own_$S.act() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
            ALTER FUNCTION own_$S.act() OWNER TO $M;
            """)
        try run(statements)
        try expectRefusal(expected, "$M")
        try run("GRANT ALL ON SCHEMA $S TO $A; GRANT ALL ON ALL TABLES IN SCHEMA $S TO $A")
        try run("GRANT ALL ON ALL SEQUENCES IN SCHEMA $S TO $A")
        let trusting = try store(user, ["owner": .string(other)])
        #expect(try trusting.text("name") == "value")
    }

    @Test("is refused, and named, if the store has not made it, also if the user owns it", arguments: Planted.odd)
    func odd(_ statements: String, _ expected: String) throws {
        try store(user).set("name", "value")
        try run(statements)
        try expectRefusal(expected, "$A")
    }

    @Test("is refused before the tables are made")
    func early() throws {
        try run("CREATE SCHEMA $S AUTHORIZATION $M; GRANT ALL ON SCHEMA $S TO $A")
        try expectRefusal("schema $S", "$M")
        try run("ALTER SCHEMA $S OWNER TO $A; GRANT ALL ON SCHEMA $S TO $M")
        try run("SET ROLE $M; CREATE TABLE $S.value (name bytea); GRANT ALL ON $S.value TO PUBLIC")
        try expectRefusal("table $S.value", "$M")
        try run("DROP TABLE $S.value")
        try store(user).set("name", "value")
    }

    @Test("needs only the rights to use the tables, if users that share a store name their owner")
    func sharing() throws {
        try store(user).set("name", "value")
        try run(
            """
            GRANT USAGE ON SCHEMA $S TO $M;
            GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA $S TO $M;
            GRANT USAGE, SELECT ON SEQUENCE $S.change TO $M
            """)
        let shared = try OpenStore(server.uri(other), schema: schema, ["owner": .string(user)])
        let watch = try shared.store.watch(shared.place) { _ in }
        defer { shared.store.unwatch(watch) }
        try shared.write("large", seed: 1, pieces: 20)
        #expect(try shared.remove("large"))
        try shared.commit([("name", "other")])
        #expect(try shared.values() == ["name": "other"])
        #expect(try store(user).text("name") == "other")
        let error = #expect(throws: StorageError.self) { try OpenStore(server.uri(other), schema: schema).get("name") }
        #expect(error.map { "\($0)".contains("schema \(schema)") && "\($0)".contains("'\(user)'") } ?? false)
    }

    @Test("stays without effect in other schemas, also if names are looked up there first")
    func path() throws {
        let server = try PostgreSQLServer()
        let functions = [
            ("clock_timestamp()", "timestamptz"), ("now()", "timestamptz"), ("pg_is_in_recovery()", "bool"),
            ("pg_advisory_xact_lock_shared(int8)", "void"), ("pg_advisory_xact_lock(int8)", "void"),
            ("pg_backend_pid()", "int4"), ("current_setting(text)", "text"), ("pg_notify(text, text)", "void"),
        ].map { name, type in
            """
            CREATE FUNCTION evil.\(name) RETURNS \(type) LANGUAGE plpgsql AS $$
            BEGIN INSERT INTO evil.seen VALUES ('\(name)'); RETURN\(type == "void" ? "" : " NULL"); END $$;
            """
        }
        try server.run("CREATE SCHEMA evil; CREATE TABLE evil.seen (name text); \(functions.joined(separator: "\n"))")
        try server.run(
            """
            CREATE FUNCTION evil.equal(bytea, bytea) RETURNS bool LANGUAGE plpgsql AS $$
            BEGIN INSERT INTO evil.seen VALUES ('='); RETURN true; END $$;
            CREATE OPERATOR evil.= (FUNCTION = evil.equal, LEFTARG = bytea, RIGHTARG = bytea);
            ALTER ROLE localdata SET search_path = evil, pg_catalog
            """)
        let pooler = try PostgreSQLServer(before: server, mode: "transaction")
        for uri in [server.uri(), pooler.uri()] {
            let store = try OpenStore(uri)
            let watch = try store.store.watch(store.place) { _ in }
            try store.set("a", "1")
            #expect(try store.set("b", "1", if: .absent) != nil)
            try store.apply([("a", "2"), ("c", nil)])
            try store.commit([("d", "1")])
            try store.write("large", seed: 1, pieces: 20)
            #expect(try store.digest("large").size == 20 << 16)
            #expect(try store.remove("large"))
            #expect(try store.values() == ["a": "2", "b": "1", "d": "1"])
            #expect(try store.findings() == [])
            let lock = try #require(try store.store.lock("x", in: store.place, waiting: .zero))
            #expect(try store.store.isHeld(lock))
            store.store.unlock(lock)
            store.store.unwatch(watch)
        }
        #expect(try server.run("SELECT DISTINCT name FROM evil.seen") == [])
    }
}
