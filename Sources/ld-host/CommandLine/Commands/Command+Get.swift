internal import FoundationEssentials
internal import LocalDataAPI
internal import LocalDataHost

extension Command {
    static let get = Command(
        name: "get", operands: "ADDRESS", count: 1...1, summary: "print a value",
        details: """
            Prints the value's bytes unchanged. On a terminal, control characters are shown as escapes, and a value that
            does not end in a newline gets one. A value that its key's policy seals is opened, also if no catalog of the
            configuration describes the key; if that is not possible here, it is refused. With --json, 'modified' is the time of writing,
            and 'expires' when the value expires, if it does. Ends with status 1 if nothing is stored.
            """,
        options: [
            Option(name: "--raw", help: "print the stored bytes: for a sealed value, its envelope"),
            Option(name: "--revision", help: "print the value's revision only, for set and rm with --if-revision"),
            json,
        ]
    ) { arguments, session in
        let router = try session.router()
        let isRaw = arguments.has("--raw")
        let key =
            isRaw
            ? try await Address.unseenKey(arguments.operands[0], router)
            : try await Address.key(arguments.operands[0], router)
        if arguments.has("--revision") {
            guard !session.json, !isRaw else {
                throw UsageError("--revision cannot be combined with --json or --raw")
            }
            guard let found = try await router.revisionedData(for: key) else { throw await notStored(key, router) }
            Output.line("\(found.revision)")
            return .done
        }
        guard !isRaw || !session.json else { throw UsageError("--raw and --json cannot be combined") }
        if session.json {
            guard let data = try await router.data(for: key) else { throw await notStored(key, router) }
            try Output.json(
                ValueReport(
                    address: arguments.operands[0], data: data, attributes: try await router.attributes(of: key)))
            return .done
        }
        let writer = ValueWriter()
        let write: @Sendable (UnsafeRawBufferPointer) -> Bool = { piece in
            writer.write(piece)
            return true
        }
        let found =
            isRaw
            ? try await router.readStoredPieces(for: key, write)
            : try await router.readPieces(for: key, write)
        guard found else { throw await notStored(key, router) }
        writer.end()
        return .done
    }

    /// The error for a value that is not stored.
    static func notStored(_ key: AnyStorageKey, _ router: StorageRouter) async -> StorageError {
        let error = await router.notStored(key)
        guard error.hint.isEmpty else { return error }
        let apps = await router.apps(having: key)
        guard let app = apps.first else { return StorageError(error.code, error.message, hint: "run: ld-host ls") }
        let text = "\(key.descriptor.domain)/\(key.descriptor.name)"
        let isPlain = text.wholeMatch(of: /[A-Za-z0-9._:\/%-]+/) != nil
        let address = isPlain ? text : PathText.shellQuoted(text)
        let others = apps.dropFirst().map { ", and '\($0)' too" }.joined()
        return StorageError(
            error.code, error.message,
            hint: "the app '\(app)' has one\(others): ld-host --app \(app) get \(address)")
    }
}
