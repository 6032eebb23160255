internal import FoundationEssentials
internal import Glibc
internal import LocalDataAPI
internal import LocalDataHost
internal import Synchronization

extension Command {
    static let set = Command(
        name: "set", operands: "ADDRESS [VALUE]", count: 1...2, summary: "store a value",
        details: """
            The value's bytes are stored as they are. Without VALUE it is asked for at the terminal; secrets, which is
            what keychain and encryptedFileSystem keep, never come from the command line, where others can see them.
            Put -- before a VALUE that starts with a dash.
            """,
        options: [
            Option(name: "--stdin", help: "take the value from standard input, to its end"),
            Option(name: "--file", value: "FILE", help: "take the value from FILE"),
        ]
    ) { arguments, session in
        let router = try session.router()
        let key = try await Address.key(arguments.operands[0], router)
        let isSecret = key.descriptor.security != .none
        if arguments.operands.count == 2, isSecret {
            throw UsageError(
                "a secret for '\(arguments.operands[0])' cannot be an argument, where other users see it",
                hint: "use --stdin, or leave the value out to be asked for it")
        }
        let sources = [
            arguments.operands.count == 2, arguments.has("--stdin"), arguments.value("--file") != nil,
        ].filter { $0 }
        guard sources.count <= 1 else { throw UsageError("the value is given more than once") }
        if arguments.operands.count == 2 {
            try await router.setData(Data(arguments.operands[1].utf8), for: key)
        } else if arguments.has("--stdin") {
            try await router.writeData(for: key) { try Input.read(STDIN_FILENO, into: $0) }
        } else if let path = arguments.value("--file") {
            let descriptor = open(path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else {
                throw StorageError(.fileError, "'\(path)' cannot be opened: \(String(cString: strerror(errno)))")
            }
            defer { close(descriptor) }
            try await router.writeData(for: key) { try Input.read(descriptor, named: "'\(path)'", into: $0) }
        } else {
            try await router.checkUsable(key)
            guard let value = try typed(for: arguments.operands[0]) else {
                throw UsageError(
                    "there is no value and no terminal to ask for it", hint: "give VALUE, --stdin or --file FILE")
            }
            // In pieces, whose memory is cleared.
            let given = Atomic(0)
            try await router.writeData(for: key) { buffer in
                let rest = value.bytes[given.load(ordering: .relaxed)...].prefix(buffer.count)
                buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: rest))
                given.wrappingAdd(rest.count, ordering: .relaxed)
                return rest.count
            }
        }
        try await warnIfLost(key.descriptor.domain, router)
        return .done
    }

    private static func typed(for address: String) throws -> SecretBytes? {
        do throws(StorageError) {
            return try Terminal.secret(prompt: "value for \(Printable(address)): ")
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
