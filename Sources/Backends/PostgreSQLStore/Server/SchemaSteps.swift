/// The steps that create the tables. A store's version is the number of steps that were made. A step that was released
/// never changes; a new layout is a new step.
enum SchemaSteps {
    /// The advisory lock of those who make steps.
    static let lock = 0x4c44_6174_5067_0001

    static let all: [[String]] = [first]

    /// Names, values and texts are bytes, so that they keep their bytes and order in a database of any encoding.
    ///
    /// - `place`: the namespaces. Rows are never removed.
    /// - `value`: the values. `revision` is random and differs for each write; times are nanoseconds since 1970. A
    ///   value of more than 1 MiB has no `content`, but rows in `piece`. `checksum` is the CRC-32C of the bytes.
    /// - `change`: counts changes, for watches. `watcher`: who wants to be notified.
    /// - `mark`: the last write of each link that changed something; see ``WriteOutcome``. Half of each page stays
    ///   empty, so that a new version of a row finds room beside the old one, and no index changes.
    /// - `fence`: the writes that must not happen any more. `enter` refuses them.
    private static let first = [
        "CREATE SCHEMA IF NOT EXISTS \"$SCHEMA\"",
        """
        CREATE TABLE "$SCHEMA".store (
            version int4 NOT NULL, identity int8 NOT NULL, single bool PRIMARY KEY DEFAULT true CHECK (single))
        """,
        """
        INSERT INTO "$SCHEMA".store (version, identity)
        VALUES (0, ('x' || substr(md5(random()::text || clock_timestamp()::text), 1, 16))::bit(64)::int8)
        """,
        """
        CREATE TABLE "$SCHEMA".place (
            id int4 GENERATED ALWAYS AS IDENTITY PRIMARY KEY, domain bytea NOT NULL, scope bytea NOT NULL,
            UNIQUE (domain, scope))
        """,
        """
        CREATE TABLE "$SCHEMA".value (
            place int4 NOT NULL, name bytea NOT NULL, revision int8 NOT NULL, modified int8 NOT NULL, expires int8,
            size int8 NOT NULL, checksum int8 NOT NULL, content_type bytea, serializer bytea, version_tag bytea,
            app_version bytea, owner bytea, content bytea, PRIMARY KEY (place, name))
        """,
        "ALTER TABLE \"$SCHEMA\".value ALTER content SET STORAGE EXTERNAL",
        "CREATE INDEX value_expires ON \"$SCHEMA\".value (expires) WHERE expires IS NOT NULL",
        """
        CREATE TABLE "$SCHEMA".piece (
            revision int8 NOT NULL, number int4 NOT NULL, content bytea NOT NULL, PRIMARY KEY (revision, number))
        """,
        "ALTER TABLE \"$SCHEMA\".piece ALTER content SET STORAGE EXTERNAL",
        "CREATE FUNCTION \"$SCHEMA\".drop_pieces() RETURNS trigger LANGUAGE plpgsql AS $$\(dropPieces)$$",
        """
        CREATE TRIGGER pieces_replaced AFTER UPDATE ON "$SCHEMA".value FOR EACH ROW
        WHEN (OLD.content IS NULL AND OLD.revision <> NEW.revision) EXECUTE FUNCTION "$SCHEMA".drop_pieces()
        """,
        """
        CREATE TRIGGER pieces_removed AFTER DELETE ON "$SCHEMA".value FOR EACH ROW
        WHEN (OLD.content IS NULL) EXECUTE FUNCTION "$SCHEMA".drop_pieces()
        """,
        "CREATE SEQUENCE \"$SCHEMA\".change",
        "CREATE UNLOGGED TABLE \"$SCHEMA\".watcher (id int8 PRIMARY KEY, until timestamptz NOT NULL)",
        """
        CREATE TABLE "$SCHEMA".mark (
            link int8 PRIMARY KEY, write int8 NOT NULL, found bool NOT NULL, made timestamptz NOT NULL DEFAULT now())
        WITH (fillfactor = 50)
        """,
        "CREATE TABLE \"$SCHEMA\".fence (write int8 PRIMARY KEY, made timestamptz NOT NULL DEFAULT now())",
        "CREATE FUNCTION \"$SCHEMA\".enter(write_ int8) RETURNS void LANGUAGE plpgsql AS $$\(enter)$$",
    ]

    /// The functions with their bodies, which ``SchemaAudit`` compares.
    static let functions = [(name: "drop_pieces", body: dropPieces), (name: "enter", body: enter)]

    private static let dropPieces = """
        BEGIN
            DELETE FROM "$SCHEMA".piece WHERE revision = OLD.revision;
            RETURN NULL;
        END
        """

    private static let enter = """
        BEGIN
            PERFORM pg_advisory_xact_lock_shared(write_);
            IF current_setting('synchronous_commit') IN ('off', 'local', 'remote_write') THEN
                PERFORM set_config('synchronous_commit', 'on', true);
            END IF;
            IF EXISTS (SELECT FROM "$SCHEMA".fence WHERE write = write_) THEN
                RAISE EXCEPTION 'the write was fenced off' USING ERRCODE = 'LD001';
            END IF;
        END
        """
}
