internal import LocalDataPluginAPI

/// Looks for what other roles could have put into the schema. The server runs triggers, rules, defaults and other
/// expressions of a table as the role that uses the table, also if another wrote them: a role that owns the schema, a
/// table or a function, or may create triggers, could run its code as the store's user.
///
/// The roles that may are the user and the one of option `owner`. All others are refused, also superusers.
struct SchemaAudit {
    private let schema: String
    private let owner: String

    init(_ schema: String, owner: String) { (self.schema, self.owner) = (schema, owner) }

    /// The statement whose answer ``check(_:_:)`` judges. It finds nothing in a schema that does not exist.
    var call: StatementCall {
        let bodies = SchemaSteps.functions.map { Parameter.text($0.body.replacing("$SCHEMA", with: schema)) }
        return StatementCall(text: text, [.text(owner)] + bodies)
    }

    /// - Throws: `permissionDenied`, which names an object that another role has, or that the store has not made.
    func check(_ answer: ResultRows?, _ host: String) throws(StorageError) {
        guard let answer, answer.count > 0 else { return }
        let (object, role, user) = (answer.text(0) ?? "", answer.text(1) ?? "", answer.text(2) ?? "")
        guard answer.integer(3) != 0 else {
            throw StorageError(
                .permissionDenied,
                "\(object), at \(host), is not as the store makes it, and could change what '\(user)' reads and writes",
                hint: "find out why its owner '\(role)' has it, and remove it")
        }
        throw StorageError(
            .permissionDenied,
            "\(object), at \(host), belongs to the role '\(role)', which could so run its own code as '\(user)'",
            hint: "remove or revoke it, or name the role in option 'owner' if it may do everything that '\(user)' may")
    }

    /// The names of the store's tables and of its sequence.
    private static let relations = "'{store,place,value,piece,mark,watcher,fence,change}'::name[]"

    /// `foreign_` are objects with the role that has them, `odd` those that the store never makes.
    private var text: String {
        """
        WITH trusted AS (SELECT oid FROM pg_roles WHERE rolname = current_user OR rolname = $1::text),
        space AS (SELECT oid, nspowner FROM pg_namespace WHERE nspname = '\(schema)'),
        ours AS (SELECT c.* FROM pg_class c JOIN space s ON s.oid = c.relnamespace
        WHERE c.relname = ANY (\(Self.relations))),
        functions AS (SELECT p.* FROM pg_proc p JOIN space s ON s.oid = p.pronamespace
        WHERE p.proname IN (\(SchemaSteps.functions.map { "'\($0.name)'" }.joined(separator: ", ")))),
        parts AS (SELECT 'pg_class'::regclass AS class, oid FROM ours
        UNION ALL SELECT 'pg_class'::regclass, i.indexrelid FROM pg_index i JOIN ours o ON o.oid = i.indrelid
        UNION ALL SELECT 'pg_attrdef'::regclass, a.oid FROM pg_attrdef a JOIN ours o ON o.oid = a.adrelid
        UNION ALL SELECT 'pg_constraint'::regclass, c.oid FROM pg_constraint c JOIN ours o ON o.oid = c.conrelid
        UNION ALL SELECT 'pg_trigger'::regclass, t.oid FROM pg_trigger t JOIN ours o ON o.oid = t.tgrelid),
        foreign_ (what, role) AS (SELECT pg_describe_object('pg_namespace'::regclass, oid, 0), nspowner FROM space
        UNION ALL SELECT pg_describe_object('pg_class'::regclass, oid, 0), relowner FROM ours
        UNION ALL SELECT pg_describe_object('pg_proc'::regclass, oid, 0), proowner FROM functions
        UNION ALL SELECT pg_describe_object('pg_trigger'::regclass, t.oid, 0), p.proowner
        FROM pg_trigger t JOIN ours o ON o.oid = t.tgrelid JOIN pg_proc p ON p.oid = t.tgfoid WHERE NOT t.tgisinternal
        UNION ALL SELECT 'the right to create triggers on ' || pg_describe_object('pg_class'::regclass, o.oid, 0),
        a.grantee FROM ours o CROSS JOIN aclexplode(o.relacl) a WHERE a.privilege_type = 'TRIGGER'
        UNION ALL SELECT pg_describe_object('pg_constraint'::regclass, f.oid, 0), c.relowner
        FROM pg_constraint f JOIN ours o ON o.oid = f.confrelid JOIN pg_class c ON c.oid = f.conrelid
        UNION ALL SELECT pg_describe_object(d.refclassid, d.refobjid, 0) || ', which '
        || pg_describe_object(d.classid, d.objid, d.objsubid) || ' uses', coalesce(p.proowner, y.typowner, r.oprowner)
        FROM parts s JOIN pg_depend d ON d.classid = s.class AND d.objid = s.oid
        LEFT JOIN pg_proc p ON d.refclassid = 'pg_proc'::regclass AND p.oid = d.refobjid
        LEFT JOIN pg_type y ON d.refclassid = 'pg_type'::regclass AND y.oid = d.refobjid
        LEFT JOIN pg_operator r ON d.refclassid = 'pg_operator'::regclass AND r.oid = d.refobjid
        WHERE coalesce(p.proowner, y.typowner, r.oprowner) IS NOT NULL),
        odd (what, role) AS (SELECT pg_describe_object('pg_class'::regclass, oid, 0), relowner FROM ours
        WHERE relkind <> CASE relname WHEN 'change' THEN 'S'::"char" ELSE 'r' END
        UNION ALL SELECT pg_describe_object('pg_rewrite'::regclass, r.oid, 0), o.relowner
        FROM pg_rewrite r JOIN ours o ON o.oid = r.ev_class
        UNION ALL SELECT 'the row security of ' || pg_describe_object('pg_class'::regclass, o.oid, 0), o.relowner
        FROM ours o WHERE o.relrowsecurity OR o.relforcerowsecurity
        OR EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = o.oid)
        UNION ALL SELECT pg_describe_object('pg_class'::regclass, i.inhrelid, 0) || ', which inherits from '
        || pg_describe_object('pg_class'::regclass, i.inhparent, 0), o.relowner
        FROM pg_inherits i JOIN ours o ON o.oid IN (i.inhrelid, i.inhparent)
        UNION ALL SELECT pg_describe_object('pg_proc'::regclass, oid, 0), proowner FROM functions
        WHERE prosecdef OR prosrc <> CASE proname \(bodies) END)
        SELECT what, coalesce(rolname, 'PUBLIC'), current_user::text, is_foreign::int4 FROM (
        SELECT what, role, true AS is_foreign, row_number() OVER () AS rank FROM foreign_
        WHERE role NOT IN (SELECT oid FROM trusted)
        UNION ALL SELECT what, role, false, row_number() OVER () FROM odd) found LEFT JOIN pg_roles ON oid = role
        ORDER BY is_foreign DESC, rank LIMIT 1
        """
    }

    /// The expected body of each function, from the second parameter on.
    private var bodies: String {
        SchemaSteps.functions.enumerated().map { "WHEN '\($1.name)' THEN $\($0 + 2)::text" }.joined(separator: " ")
    }
}
