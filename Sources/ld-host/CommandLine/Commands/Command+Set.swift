internal import FoundationEssentials
internal import Glibc
internal import LocalDataAPI
internal import LocalDataHost

extension Command {
    /// The most bytes of a value that is not only passed on.
    private static let longestEncoded = 64 << 20

    static let set = Command(
        name: "set", operands: "ADDRESS [VALUE]", count: 1...2, summary: "store a value",
        details: """
            VALUE is text. Without VALUE, ld-host prompts for it at the terminal, and hides the input if it is a secret.
            If a catalog of the configuration describes the key, the text is encoded by the key's type and serializer,
            or refused. Otherwise it is stored and recorded as text, which a key of the type String reads; if the text
            is itself a JSON string, such a key reads it without the quotes. Bytes from --stdin and --file are stored as
            they are, and checked if a catalog describes the key. --text, --json and --data state what the input is. The
            values of keychain and encryptedFileSystem are secrets: they cannot be arguments, which other users can see.
            So are those that replace a sealed value, and they are sealed as that one is. A sealed value that cannot be
            opened here is not replaced; remove it first. Put -- before a VALUE that starts with a dash.

            With --create the value is stored only if the key has none, and with --if-revision only if the stored value
            has that revision. Check and write are one atomic step, across processes and machines. If the condition
            fails, nothing changes, and the status is 2.
            """,
        options: [
            Option(name: "--stdin", help: "take the value from standard input, to its end"),
            Option(name: "--file", value: "FILE", help: "take the value from FILE"),
            Option(name: "--text", help: "the value is text"),
            Option(name: "--json", help: "the value is JSON, which is checked"),
            Option(name: "--data", help: "the value is bytes, to be stored unchecked"),
        ] + WriteTerms.options
    ) { arguments, session in
        let router = try session.router()
        let key = try await Address.key(arguments.operands[0], router)
        let isSecret = key.descriptor.security != .none
        if arguments.operands.count == 2, isSecret {
            throw UsageError(
                "a secret for '\(arguments.operands[0])' cannot be an argument, where other users see it",
                hint: "use --stdin, or leave the value out to be prompted for it")
        }
        let terms = try WriteTerms(arguments)
        let sources = [
            arguments.operands.count == 2, arguments.has("--stdin"), arguments.value("--file") != nil,
        ].filter { $0 }
        guard sources.count <= 1 else { throw UsageError("the value is given more than once") }
        let forms = ValueForm.allCases.filter { arguments.has("--\($0)") }
        guard forms.count <= 1 else {
            throw UsageError(
                "\(forms.map { "--\($0)" }.joined(separator: " and ")) cannot be combined",
                hint: "run: ld-host help set")
        }
        if arguments.operands.count == 2 {
            let given = GivenValue(for: key, as: forms.first ?? .text)
            try await terms.store(try given.bytes(Data(arguments.operands[1].utf8)), for: given.key, router)
        } else if arguments.has("--stdin") {
            try await store(GivenValue(for: key, as: forms.first), from: STDIN_FILENO, "standard input", terms, router)
        } else if let path = arguments.value("--file") {
            let descriptor = open(path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else {
                throw StorageError(.fileError, "'\(path)' cannot be opened: \(String(cString: strerror(errno)))")
            }
            defer { close(descriptor) }
            try await store(GivenValue(for: key, as: forms.first), from: descriptor, "'\(path)'", terms, router)
        } else {
            try await router.checkUsable(key)
            guard let value = try typed(for: arguments.operands[0], isSecret: isSecret) else {
                throw UsageError(
                    "no value was given, and there is no terminal to prompt for it",
                    hint: "give VALUE, --stdin or --file FILE")
            }
            let given = GivenValue(for: key, as: forms.first ?? .text)
            let buffer = SecretBuffer()
            value.withBytes { buffer.append($0) }
            let bytes = try given.bytes(buffer.slice)
            if terms.areNone {
                try await router.setSecret(bytes, for: given.key)
            } else {
                try await terms.store(secret: bytes, for: given.key, router)
            }
        }
        try await warnIfLost(key.descriptor.domain, router)
        return .done
    }

    /// Stores what a descriptor gives, in pieces if nobody has to look at it.
    private static func store(
        _ given: GivenValue, from descriptor: Int32, _ name: String, _ terms: WriteTerms, _ router: StorageRouter
    ) async throws {
        guard !given.isUnseen || !terms.areNone else {
            return try await router.writePieces(for: given.key) { try Input.read(descriptor, named: name, into: $0) }
        }
        let value = try Input.secret(from: descriptor, named: name, limit: longestEncoded)
        let bytes = try given.bytes(value.slice)
        guard terms.areNone else { return try await terms.store(secret: bytes, for: given.key, router) }
        try await router.setSecret(bytes, for: given.key)
    }

    private static func typed(for address: String, isSecret: Bool) throws -> SecretBytes? {
        do throws(StorageError) {
            return try Terminal.line(
                prompt: "value for \(Printable(address)): ", isHidden: isSecret,
                orElse: StorageError(
                    .cancelled, "no value was typed", hint: "for an empty value, press Enter, or give '' as VALUE"))
        } catch {
            guard error.code == .cancelled else { throw error }
            throw UsageError(error.message, hint: error.hint)
        }
    }

    /// Says so if what was just stored ends with this program.
    static func warnIfLost(_ domain: StorageDomain, _ router: StorageRouter) async throws {
        let properties = try await router.properties(of: domain)
        // A store that is not durable may still outlive the program; only one in memory is known not to.
        guard !properties.isDurable, properties.latency == .memory else { return }
        Output.remark(
            "ld-host: warning: the store of '\(domain.name)' keeps values only while a program runs; this one ends now")
    }
}

extension Command {
    static let remove = Command(
        name: "rm", operands: "ADDRESS...", count: 1...Int.max, summary: "remove values",
        details: """
            Ends with status 1 if one of them was not stored; the others are removed. With --recursive, each operand is
            DOMAIN:SCOPE or DOMAIN[:SCOPE]/[PREFIX] in place of an address, and all values in it are removed, 256 at
            once, all or none; --plan prints their addresses and how many they are, and removes nothing.
            \(Address.selectionHelp)
            """,
        options: [
            WriteTerms.ifRevision,
            Option(name: "--recursive", short: "-r", help: "remove all values of scopes, or whose names start so"),
            Option(name: "--plan", help: "with --recursive, print what would be removed"),
        ], removes: true
    ) { arguments, session in
        let router = try session.router()
        if arguments.has("--recursive") { return try await removeAll(arguments, router) }
        guard !arguments.has("--plan") else { throw UsageError("--plan needs --recursive") }
        if let revision = try arguments.value("--if-revision").map({ try WriteTerms.revision($0) }) {
            guard arguments.operands.count == 1 else { throw UsageError("--if-revision takes exactly one ADDRESS") }
            try await router.remove(Address.unseenKey(arguments.operands[0], router), ifRevision: revision)
            return .done
        }
        var keys: [AnyStorageKey] = []
        for address in arguments.operands { keys.append(try await Address.unseenKey(address, router)) }
        var status = ExitStatus.done
        for (key, address) in zip(keys, arguments.operands) where try await !router.remove(key) {
            Output.remark("ld-host: '\(Printable(address))' is not stored")
            status = .notFound
        }
        return status
    }

    /// How many values are removed at once.
    private static let removedAtOnce = 256

    /// Removes all values of selections, or prints them.
    private static func removeAll(_ arguments: Arguments, _ router: StorageRouter) async throws -> ExitStatus {
        guard arguments.value("--if-revision") == nil else {
            throw UsageError("--recursive and --if-revision cannot be combined")
        }
        var selections: [StorageSelection] = []
        for operand in arguments.operands {
            let selection = try Address.selection(operand)
            guard case .scope = selection else {
                // Of a domain that there is not, this says which was meant.
                _ = try await router.scopes(of: selection)
                throw UsageError(
                    "'\(operand)' has the values of all apps and scopes, which --recursive does not remove",
                    hint:
                        "name a scope, '\(operand):SCOPE', or those without one, '\(operand)/'; see: ld-host ls \(operand)"
                )
            }
            selections.append(selection)
        }
        var (status, count) = (ExitStatus.done, 0)
        // What several operands have, as DOMAIN/a and DOMAIN/ab do, is planned once.
        var planned: Set<String> = []
        Interruption.begin()
        for selection in selections {
            let (scopes, failures) = try await router.scopes(of: selection)
            for failure in failures { Output.complain(failure) }
            if !failures.isEmpty { status = .failure }
            for scope in scopes {
                var names: [String] = []
                try await router.forEachName(in: scope) { names.append($0) }
                if arguments.has("--plan") {
                    for address in names.map({ Address.text(scope.domain, $0) })
                    where planned.insert(address).inserted {
                        Output.line("\(Printable(address))")
                        count += 1
                    }
                    continue
                }
                for start in stride(from: 0, to: names.count, by: removedAtOnce) {
                    try Interruption.check(
                        "removed \(count.counted("value", isGrouped: true)); the same command removes the rest")
                    let part = names[start..<min(start + removedAtOnce, names.count)]
                    do {
                        var keys: [AnyStorageKey] = []
                        for name in part {
                            keys.append(try await router.unseenKey(at: Address.text(scope.domain, name)))
                        }
                        try await router.batch { batch in for key in keys { batch.remove(key) } }
                    } catch {
                        Output.remark("ld-host: removed \(count.counted("value")) before this error")
                        throw error
                    }
                    count += part.count
                }
            }
        }
        let isPlan = arguments.has("--plan")
        Output.remark("ld-host: \(isPlan ? "would remove" : "removed") \(count.counted("value"))")
        return status == .done && count == 0 ? .notFound : status
    }

    static let exists = Command(
        name: "exists", operands: "ADDRESS", count: 1...1,
        summary: "check whether a value is stored: exit status 0 or 1",
        details: "Prints nothing. Ends with status 0 if the value is stored, and with 1 if it is not.", options: [json]
    ) { arguments, session in
        let router = try session.router()
        let isStored = try await router.exists(Address.unseenKey(arguments.operands[0], router))
        if session.json { try Output.json(["exists": isStored]) }
        return isStored ? .done : .notFound
    }
}
