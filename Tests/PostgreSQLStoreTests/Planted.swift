import Foundation
import LocalDataAPI
import LocalDataHost
import TestSupport
import Testing

/// What is put into the schema, and how the error names it.
enum Planted {
    /// Objects of the other role.
    static let foreign: [(statements: String, expected: String)] = [
        ("ALTER SCHEMA $S OWNER TO $M", "schema $S"),
        ("ALTER TABLE $S.place OWNER TO $M", "table $S.place"),
        ("ALTER SEQUENCE $S.change OWNER TO $M", "sequence $S.change"),
        ("ALTER FUNCTION $S.enter OWNER TO $M", "function $S.enter(bigint)"),
        ("ALTER FUNCTION $S.drop_pieces OWNER TO $M", "function $S.drop_pieces()"),
        ("GRANT TRIGGER ON $S.piece TO $M", "the right to create triggers on table $S.piece"),
        (
            "CREATE TRIGGER t AFTER DELETE ON $S.fence FOR EACH ROW EXECUTE FUNCTION own_$S.act()",
            "trigger t on table $S.fence"
        ),
        ("ALTER TABLE $S.mark ALTER made SET DEFAULT own_$S.moment()", "function own_$S.moment(), which default value"),
        ("ALTER TABLE $S.value ADD CHECK (own_$S.holds(content))", "function own_$S.holds(bytea), which constraint"),
        ("CREATE INDEX i ON $S.value (own_$S.holds(name))", "function own_$S.holds(bytea), which index"),
        (
            "CREATE UNIQUE INDEX i ON $S.place (id) WHERE own_$S.holds(scope)",
            "function own_$S.holds(bytea), which index"
        ),
        (
            """
            CREATE TRIGGER t AFTER DELETE ON $S.value FOR EACH ROW WHEN (own_$S.holds(OLD.name))
            EXECUTE FUNCTION $S.drop_pieces()
            """, "function own_$S.holds(bytea), which trigger"
        ),
        (
            """
            CREATE TABLE own_$S.holder (id int4 REFERENCES $S.place (id)); ALTER TABLE own_$S.holder OWNER TO $M
            """, "constraint holder_id_fkey on table own_$S.holder"
        ),
    ]

    /// Objects of the store's user that the store does not make.
    static let odd: [(statements: String, expected: String)] = [
        ("CREATE RULE r AS ON DELETE TO $S.value DO INSTEAD NOTHING", "rule r on table $S.value"),
        ("CREATE POLICY p ON $S.value USING (true)", "the row security of table $S.value"),
        ("ALTER TABLE $S.piece ENABLE ROW LEVEL SECURITY", "the row security of table $S.piece"),
        ("CREATE TABLE $S.child () INHERITS ($S.value)", "table $S.child, which inherits from table $S.value"),
        (
            """
            DROP TABLE $S.watcher; CREATE VIEW $S.watcher AS SELECT 1::int8 AS id, now() AS until;
            ALTER VIEW $S.watcher OWNER TO $A
            """, "view $S.watcher"
        ),
        (
            """
            CREATE OR REPLACE FUNCTION $S.enter(write_ int8) RETURNS void LANGUAGE plpgsql AS 'BEGIN NULL; END'
            """, "function $S.enter(bigint)"
        ),
        ("ALTER FUNCTION $S.drop_pieces SECURITY DEFINER", "function $S.drop_pieces()"),
    ]
}
