internal import LocalDataPluginAPI
internal import ServerAccess

/// The options of a store.
struct PostgreSQLOptions: Sendable {
    static let list: [ComponentOption] = [
        .string(
            "uri", default: "postgresql:///",
            help: "where the database is: a connection URI of libpq without a password; several hosts are possible"),
        .string(
            "passwordFile", default: "",
            help:
                "a file with the password alone, readable by its owner only: an absolute path, or "
                + "$CREDENTIALS_DIRECTORY/NAME; empty: PGPASSFILE or ~/.pgpass"),
        .secret("password", help: "the password, in place of a file: the address of a value in the keychain"),
        .boolean(
            "allowsUnverifiedServer", default: false,
            help:
                "whether a server on this machine that does not show who runs it may ask for the password in any way: "
                + "then any program on its port can learn it"),
        .string(
            "schema", default: "localdata", pattern: "(?!pg_)[a-z0-9_]{1,50}",
            help:
                "the schema that holds the tables, created if it is missing: 1 to 50 of a to z, 0 to 9 and '_', not "
                + "starting with 'pg_'"),
        .string(
            "owner", default: "",
            help:
                "the role that owns schema and tables, if the user does not; both can run code as each other. What "
                + "belongs to any other role is refused"),
        .integer(
            "poolSize", default: 8,
            help: "how many connections calls use at most; watches and values in pieces have their own"),
        .number("timeout", default: 10, help: "time limit for a call, and for each MiB of a large value, in seconds"),
        .string(
            "preparedStatements", default: "auto", allowed: ["auto", "off"],
            help: "whether statements are prepared: unless a pooler is found (auto), or never (off)"),
        .integer("largestValue", default: 1_000_000_000, help: "the largest value in bytes"),
        .boolean(
            "frozen", default: false,
            help: "whether the store changes nothing, and shows all values as of one moment; backups set it"),
    ]

    let servers: [PostgreSQLAddress]
    let password: ServerSecret?
    let schema: String
    /// The role besides the user that may own tables and functions; empty for none.
    let owner: String
    let poolSize: Int
    let timeout: Double
    let prepares: Bool
    let largestValue: Int
    let isFrozen: Bool

    /// - Throws: `invalidOptions` for options that make no sense or are not safe. Never quotes the URI.
    init(_ options: ComponentOptions) throws(StorageError) {
        servers = try ConnectionURI(try options.string("uri"))
            .servers(allowingUnverified: try options.boolean("allowsUnverifiedServer"))
        password = try ServerSecret(options, text: "password", file: "passwordFile", kind: "password file")
        schema = try Self.schema(try options.string("schema"))
        owner = try options.string("owner")
        poolSize = Int(try options.integer("poolSize", in: 1...1000))
        largestValue = Int(try options.integer("largestValue", in: 1...1_000_000_000))
        timeout = try options.number("timeout", in: 0.01...3600, unit: "seconds")
        prepares = try options.string("preparedStatements") == "auto"
        isFrozen = options.contains("frozen") ? try options.boolean("frozen") : false
    }

    /// A schema's name is part of each statement, so only harmless ones are accepted.
    private static func schema(_ name: String) throws(StorageError) -> String {
        let isHarmless = name.utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "_")
        }
        guard isHarmless, (1...50).contains(name.utf8.count), !name.hasPrefix("pg_") else {
            throw StorageError(
                .invalidOptions,
                "option 'schema' is '\(name)'; expected 1 to 50 of a to z, 0 to 9 and '_', not starting with 'pg_'")
        }
        return name
    }
}
