import Foundation
import LocalDataAPI
import LocalDataHost
import TestSupport
import Testing

@Suite("Errors of a PostgreSQL server")
struct ErrorTests {
    private let server: PostgreSQLServer
    private let store: OpenStore

    init() throws {
        server = try PostgreSQLServer.shared.get()
        store = try OpenStore(server.uri())
        try store.set("name", "old")
    }

    /// Makes changes of a value fail with a SQLSTATE, all of them or the given number.
    private func fail(with state: String, times: Int = 1000) throws {
        try server.run(
            """
            CREATE SEQUENCE \(store.schema).failures;
            CREATE FUNCTION \(store.schema).fail() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                IF nextval('\(store.schema).failures') <= \(times) THEN
                    RAISE EXCEPTION 'told to fail' USING ERRCODE = '\(state)';
                END IF;
                RETURN NEW;
            END $$;
            CREATE TRIGGER fail BEFORE INSERT OR UPDATE ON \(store.schema).value FOR EACH ROW
            EXECUTE FUNCTION \(store.schema).fail();
            """)
    }

    @Test(
        "have the code of their cause, and leave the old value",
        arguments: [
            ("53100", StorageError.noSpace), ("42501", .permissionDenied), ("25006", .permissionDenied),
            ("53200", .storeUnavailable), ("57014", .storeUnavailable), ("P0001", .unknown), ("23514", .unknown),
        ])
    func codes(_ state: String, _ expected: StorageError) throws {
        try fail(with: state)
        let error = #expect(throws: StorageError.self) { try store.set("name", "new") }
        #expect(error?.code == expected.code)
        #expect(error?.message.contains(state) ?? false)
        #expect(try store.text("name") == "old")
    }

    @Test("name a value that a trigger leaves out, alone and in a batch, whatever its size", arguments: [3, 2 << 20])
    func leftOut(_ size: Int) throws {
        try server.run(
            """
            CREATE FUNCTION \(store.schema).skip() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
            CREATE TRIGGER skip BEFORE INSERT OR UPDATE ON \(store.schema).value FOR EACH ROW
            WHEN (NEW.name = 'name'::bytea) EXECUTE FUNCTION \(store.schema).skip();
            """)
        let value = Data(repeating: 7, count: size)
        let error = #expect(throws: StorageError.self) { try store.set("name", value) }
        #expect(error?.code == .storeUnavailable && error?.message.contains("has not stored 'name'") == true)
        #expect(throws: StorageError.storeUnavailable) { try store.apply([("other", "1"), ("name", "2")]) }
        #expect(try store.text("name") == "old")
        try store.set("another", value)
    }

    @Test("for a conflict with another transaction do not reach the caller", arguments: ["40001", "40P01"])
    func conflict(_ state: String) throws {
        try fail(with: state, times: 3)
        try store.set("name", "new")
        #expect(try store.text("name") == "new")
    }

    @Test("of a read-only session and of a user without rights name the cause")
    func rights() throws {
        let reader = try OpenStore(
            server.uri("localdata", "?options=-c%20default_transaction_read_only%3Don"), schema: store.schema)
        #expect(try reader.text("name") == "old")
        #expect(throws: StorageError.permissionDenied) { try reader.set("name", "new") }
        try server.run(
            """
            DO $$ BEGIN
                PERFORM pg_advisory_xact_lock(2);
                IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'guest') THEN CREATE ROLE guest LOGIN; END IF;
            END $$
            """)
        let guest = try OpenStore(server.uri("guest"), schema: store.schema)
        let error = #expect(throws: StorageError.self) { try guest.get("name") }
        #expect(error?.code == .permissionDenied, "\(String(describing: error))")
        let outsider = try OpenStore(server.uri("guest"))
        #expect(throws: StorageError.permissionDenied) { try outsider.set("name", "value") }
    }

    @Test("never contain a value")
    func secrecy() throws {
        try server.run("ALTER TABLE \(store.schema).value ADD CHECK (content <> 'hunter2')")
        let error = #expect(throws: StorageError.self) { try store.set("name", "hunter2") }
        #expect(error.map { !"\($0)".contains("hunter2") && !"\($0)".contains("68756e74657232") } ?? false)
    }

    @Test("for a connection beyond the limit are retried until the deadline")
    func connectionLimit() throws {
        try server.run(
            """
            DO $$ BEGIN
                PERFORM pg_advisory_xact_lock(3);
                IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'single') THEN
                    CREATE ROLE single LOGIN CONNECTION LIMIT 1;
                    GRANT CREATE ON DATABASE postgres TO single;
                END IF;
            END $$
            """)
        let first = try OpenStore(server.uri("single"), ["poolSize": .integer(1)])
        try first.set("name", "value")
        let second = try OpenStore(server.uri("single"), ["timeout": .number(1)])
        let error = #expect(throws: StorageError.self) { try second.get("name") }
        #expect(error?.code == .storeUnavailable)
        #expect(error?.message.contains("too many connections") ?? false, "\(String(describing: error))")
        first.store.close()
        #expect(try second.get("name") == nil)
    }
}
