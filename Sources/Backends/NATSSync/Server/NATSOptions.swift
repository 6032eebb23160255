internal import LocalDataPluginAPI
internal import ServerAccess

/// The options of the transport.
struct NATSOptions: Sendable {
    static let list: [ComponentOption] = [
        .string(
            "servers", default: "nats://127.0.0.1:4222",
            help: "the servers' URLs, with commas between them: tls://HOST:PORT, or nats://127.0.0.1:PORT"),
        .string(
            "bucket", default: "localdata",
            help: "the key-value bucket that holds the records; all devices of a group use the same"),
        .boolean("create", default: true, help: "whether a missing bucket is created"),
        .integer("replicas", default: 1, help: "how many servers of a cluster hold a bucket that is created: 1 to 5"),
        .path("caFile", help: "certificates of authorities to trust besides the system's, in PEM"),
        .path("certificateFile", help: "this device's certificate, in PEM"),
        .string("keyFile", default: "", help: "the key of the certificate: \(secret)"),
        .string("credentialsFile", default: "", help: "the user's credentials (.creds): \(secret)"),
        .string("user", default: "", help: "the user's name, if the server asks for a password"),
        .string("passwordFile", default: "", help: "the user's password alone: \(secret)"),
        .secret("password", help: "the user's password, in place of a file: the address of a value in the keychain"),
        .number("timeout", default: 10, help: "how long a call waits for an answer of the server, in seconds"),
        .integer("largestRecord", default: 1_000_000, help: "the largest record in bytes; at least 262144"),
        .boolean(
            "syncsAlways", default: false,
            help: "whether the servers have 'sync_interval: always', which no client can see"),
    ]
    private static let secret =
        "a file readable by its owner only: an absolute path, or $CREDENTIALS_DIRECTORY/NAME"

    let servers: [NATSAddress]
    let bucket: String
    let creates: Bool
    let replicas: Int
    let caFile: String?
    let certificateFile: String?
    let keyFile: SecretFile?
    let credentials: SecretFile?
    let user: String
    let password: ServerSecret?
    var timeout: Double
    /// The most bytes of a record's content.
    let largestRecord: Int
    /// What every transport has to carry.
    static let leastRecord = 262_144
    let syncsAlways: Bool

    /// The servers, for messages.
    var hosts: String { servers.map(\.name).joined(separator: ", ") }

    /// - Throws: `invalidOptions` for options that make no sense or are not safe.
    init(_ options: ComponentOptions) throws(StorageError) {
        var servers: [NATSAddress] = []
        for text in try options.string("servers").split(separator: ",", omittingEmptySubsequences: false) {
            servers.append(try NATSAddress(String(text.drop { $0 == " " })))
        }
        self.servers = servers
        bucket = try Self.bucket(try options.string("bucket"))
        creates = try options.boolean("create")
        replicas = Int(try options.integer("replicas", in: 1...5))
        caFile = options.contains("caFile") ? try options.string("caFile") : nil
        certificateFile = options.contains("certificateFile") ? try options.string("certificateFile") : nil
        keyFile = try Self.secret("keyFile", of: options, "key file")
        credentials = try Self.secret("credentialsFile", of: options, "credentials file")
        user = try options.string("user")
        password = try ServerSecret(options, text: "password", file: "passwordFile", kind: "password file")
        timeout = try options.number("timeout", in: 0.01...3600, unit: "seconds")
        largestRecord = Int(try options.integer("largestRecord", in: Int64(Self.leastRecord)...64_000_000))
        syncsAlways = try options.boolean("syncsAlways")
        guard (certificateFile == nil) == (keyFile == nil) else {
            throw StorageError(.invalidOptions, "options 'certificateFile' and 'keyFile' need each other")
        }
        guard user.isEmpty == (password == nil) else {
            throw StorageError(.invalidOptions, "options 'user' and 'passwordFile' (or 'password') need each other")
        }
        guard credentials == nil || password == nil else {
            throw StorageError(
                .invalidOptions, "option 'credentialsFile' excludes 'passwordFile' and 'password'",
                hint: "set the one that the server asks for")
        }
    }

    private static func secret(
        _ name: String, of options: ComponentOptions, _ kind: String
    ) throws(StorageError) -> SecretFile? {
        let file = try options.string(name)
        return file.isEmpty ? nil : try SecretFile(file, of: name, kind: kind)
    }

    /// A bucket's name is part of each subject.
    private static func bucket(_ name: String) throws(StorageError) -> String {
        let isHarmless = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        guard isHarmless, (1...64).contains(name.utf8.count) else {
            throw StorageError(
                .invalidOptions, "option 'bucket' is '\(name)'; expected 1 to 64 letters, digits, '-' and '_'")
        }
        return name
    }
}
