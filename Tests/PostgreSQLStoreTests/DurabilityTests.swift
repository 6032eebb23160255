import Foundation
import LocalDataAPI
import TestSupport
import Testing

@Suite("Settings of a PostgreSQL server that concern durability", .serialized)
struct DurabilityTests {
    /// Stores a value, and returns the setting that its transaction had.
    private static func setting(_ store: OpenStore, _ server: PostgreSQLServer) throws -> [String] {
        try store.set("first", "value")
        try server.run(
            """
            CREATE TABLE "\(store.schema)".seen (setting text);
            CREATE FUNCTION "\(store.schema)".note() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                INSERT INTO "\(store.schema)".seen VALUES (current_setting('synchronous_commit'));
                RETURN NULL;
            END $$;
            CREATE TRIGGER note AFTER INSERT ON "\(store.schema)".value FOR EACH ROW
            EXECUTE FUNCTION "\(store.schema)".note()
            """)
        try store.set("second", "value")
        return try server.run("SELECT setting FROM \"\(store.schema)\".seen")
    }

    @Test(
        "a commit waits for the disks of the server and of a synchronous standby, whatever the server's default is",
        arguments: [("off", "on"), ("local", "on"), ("remote_write", "on"), ("remote_apply", "remote_apply")])
    func synchronousCommit(_ setting: String, _ expected: String) throws {
        let server = try PostgreSQLServer("-c synchronous_commit=\(setting)")
        #expect(try Self.setting(OpenStore(server.uri()), server) == [expected])
        let pooler = try PostgreSQLServer(before: server, mode: "transaction")
        #expect(try Self.setting(OpenStore(pooler.uri()), server) == [expected])
    }
}
