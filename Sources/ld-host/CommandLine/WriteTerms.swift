internal import FoundationEssentials
internal import LocalDataAPI
internal import LocalDataHost

/// The condition and the expiry that a command gives for a write.
struct WriteTerms {
    /// The condition on the stored value.
    enum Condition {
        case absent
        case revision(StorageRevision)
    }

    let condition: Condition?
    let expires: Date?

    static let options = [
        Command.Option(name: "--create", help: "store it only if nothing is stored; prints the revision"),
        Command.Option(
            name: ifRevision.name, value: ifRevision.value,
            help: "store it only if what is stored has this revision, see get --revision; prints the new one"),
        Command.Option(
            name: "--expires", value: "WHEN",
            help: "let it expire: in 90s, 15m, 12h, 30d or 2w, or at a time like 2030-01-31T12:00:00Z"),
    ]
    static let ifRevision = Command.Option(
        name: "--if-revision", value: "REVISION",
        help: "change it only if it still has this revision: see get --revision")

    /// - Throws: `UsageError` for options that contradict each other or are malformed.
    init(_ arguments: Arguments) throws {
        let revision = try arguments.value("--if-revision").map { try Self.revision($0) }
        guard revision == nil || !arguments.has("--create") else {
            throw UsageError("--create and --if-revision cannot be combined")
        }
        condition = arguments.has("--create") ? .absent : revision.map { .revision($0) }
        expires = try arguments.value("--expires").map { try Self.date($0) }
    }

    /// Whether the write is like any other.
    var areNone: Bool { condition == nil && expires == nil }

    /// Stores a value on these terms, and prints its revision if there is a condition.
    func store(_ data: Data, for key: AnyStorageKey, _ router: StorageRouter) async throws {
        switch (condition, expires) {
        case (.absent?, _): Output.line("\(try await router.createData(data, for: key, expires: expires))")
        case (.revision(let revision)?, _):
            Output.line("\(try await router.setData(data, for: key, ifRevision: revision, expires: expires))")
        case (nil, let expires?): try await router.setData(data, for: key, expires: expires)
        case (nil, nil): try await router.setData(data, for: key)
        }
    }

    /// The same for a secret: the copy that the store gets is cleared.
    func store(secret: SecretSlice, for key: AnyStorageKey, _ router: StorageRouter) async throws {
        var data = Data(secret)
        defer { data.resetBytes(in: data.startIndex..<data.endIndex) }
        try await store(data, for: key, router)
    }

    /// The latest time at which a value can expire.
    static let latestStored = UTCTime.seconds(Int64(Date.latestStored.timeIntervalSince1970))

    static func revision(_ text: String) throws -> StorageRevision {
        guard let revision = StorageRevision(text) else {
            throw UsageError(
                "'\(text)' is not a revision; expected 16 hexadecimal digits",
                hint: "see: ld-host get --revision ADDRESS")
        }
        return revision
    }

    /// A time, or a time from now on.
    static func date(_ text: String) throws -> Date {
        let units: [Character: Double] = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800]
        var date = UTCTime.date(text)
        if let last = text.last, let unit = units[last], let count = UInt32(text.dropLast()), count > 0 {
            date = Date(timeIntervalSinceNow: Double(count) * unit)
        }
        guard let date else {
            throw UsageError(
                "'\(text)' is not a time; expected one like 90s, 15m, 12h, 30d, 2w or 2030-01-31T12:00:00Z")
        }
        guard date > Date.now else { throw UsageError("'\(text)' is in the past") }
        guard date <= .latestStored else {
            throw UsageError("'\(text)' is too late; expected a time up to \(Self.latestStored)")
        }
        return date
    }
}
