internal import FoundationEssentials
internal import Glibc
internal import LocalDataAPI
internal import LocalDataHost
internal import Synchronization

extension Command {
    static let envelopeInspect = Command(
        name: "envelope inspect", operands: "[ADDRESS]", count: 0...1,
        summary: "show the header of an encrypted value",
        details: """
            Prints what the bytes say; without the key, nothing of it is proven authentic. It needs and prints neither
            key nor value. Ends with status 2 if the bytes are not an encrypted value, or are incomplete.
            """,
        options: [
            Option(name: "--stdin", help: "take the sealed value from standard input, to its end"),
            Option(name: "--file", value: "FILE", help: "take the sealed value from FILE"), json,
        ]
    ) { arguments, session in
        let given = [
            arguments.operands.first != nil, arguments.has("--stdin"), arguments.value("--file") != nil,
        ]
        guard given.count(where: \.self) == 1 else {
            throw UsageError(
                "expected exactly one sealed value", hint: "give ADDRESS, --stdin or --file FILE")
        }
        if let address = arguments.operands.first { return try await inspect(address, session) }
        let path = arguments.value("--file") ?? "-"
        let (start, size) = try Input.start(of: path, atMost: EnvelopeHeader.largestSize)
        return try inspect(start, size: size, named: path == "-" ? "standard input" : "'\(path)'", json: session.json)
    }

    /// The same of what a store keeps at an address.
    private static func inspect(_ address: String, _ session: Session) async throws -> ExitStatus {
        let router = try session.router()
        let stored = Mutex((start: Data(), size: UInt64(0)))
        let key = try await Address.unseenKey(address, router)
        let found = try await router.readStoredPieces(for: key) { piece in
            stored.withLock { stored in
                stored.start.append(contentsOf: piece.prefix(EnvelopeHeader.largestSize - stored.start.count))
                stored.size += UInt64(piece.count)
            }
            return true
        }
        guard found else { throw await notStored(key, router) }
        let (start, size) = stored.withLock { $0 }
        return try inspect(start, size: size, named: "'\(address)'", json: session.json)
    }

    /// Prints what the header of sealed bytes says.
    ///
    /// - Parameters:
    ///   - sealed: All of them, or the first 16 KiB at least.
    ///   - size: How many they are.
    ///   - name: What they are called in errors.
    private static func inspect(_ sealed: Data, size: UInt64, named name: String, json: Bool) throws -> ExitStatus {
        let report: EnvelopeReport
        do throws(EnvelopeFault) { report = try EnvelopeReport(sealed, sealedSize: size) } catch {
            throw StorageError(.cannotOpen, "\(name) \(error)", hint: "give the bytes of a value that was sealed")
        }
        if json { try Output.json(report) } else { report.print() }
        guard report.isWhole else {
            throw StorageError(
                .cannotOpen,
                "\(name) has \(Int(clamping: size).counted("byte")), which no envelope with this header has",
                hint: "it was cut off, or something was added to it")
        }
        Output.remark("ld-host: note: nothing of this is authentic without the key")
        return .done
    }
}
