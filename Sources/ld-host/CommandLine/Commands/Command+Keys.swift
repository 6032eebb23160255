internal import HostClients
internal import LocalDataHost

extension Command {
    private static let store = Option(name: "--store", value: "NAME", help: "the keys of the sealed store NAME")
    private static let ringDetails = """
        The master keys seal values of keys with an encryption policy. They are kept in the keychain domain, whose store
        is sealed with keys of its own: those of that store are meant with --store.
        """

    /// A line of `keys list`.
    private struct KeyRow: Encodable {
        var id: String?
        let state: String
        var created: Int64?
        var values: Int?
        /// Of a former ring or store's key, where it lies in the keychain.
        var ring: String?
        var kind: String?
    }

    static let keysList = Command(
        name: "keys list", summary: "list the keys that seal values",
        details: """
            \(ringDetails) One key a line: its id, its state (active: seals and opens; decrypt-only: opens; disabled:
            neither), and when it was made. The first key is made when the first value is sealed. Behind them stand, as
            former, the keys of rings that the configuration has named before, and keys of stores that it names no more.
            """,
        options: [
            store, Option(name: "--values", help: "count the values that each key seals, by looking at all of them"),
            json,
        ]
    ) { arguments, session in
        let keys = try await session.router().keys(of: ring(arguments), counting: arguments.has("--values"))
        let former = arguments.value("--store") == nil ? try await session.router().formerRings() : []
        let rows =
            keys.map { KeyRow(id: $0.id, state: $0.state, created: $0.created, values: $0.values) }
            + former.flatMap { ring in
                let (name, kind) = ("\(ring.service)/\(ring.account)", ring.isStoreKey ? "store key" : "key ring")
                return ring.isStoreKey
                    ? [KeyRow(state: "former", ring: name, kind: kind)]
                    : ring.keys.map {
                        KeyRow(id: $0.id, state: "former", created: $0.created, ring: name, kind: kind)
                    }
            }
        if session.json {
            try Output.json(rows)
            return .done
        }
        var table = Table()
        for row in rows {
            let cells = [row.id ?? "-", row.state, row.created.map { UTCTime.seconds($0) } ?? "-"]
            if let values = row.values {
                table.add(cells[0], cells[1], cells[2], "\(values) value\(values == 1 ? "" : "s")")
            } else if let ring = row.ring, let kind = row.kind {
                table.add(cells[0], cells[1], cells[2], "\(kind) \(Printable(ring))")
            } else {
                table.add(cells[0], cells[1], cells[2])
            }
        }
        table.print()
        if rows.isEmpty { Output.remark("ld-host: there are no keys yet; the first value that is sealed makes one") }
        return .done
    }

    static let keysCreate = Command(
        name: "keys create", summary: "make a key that seals nothing until it is rotated to",
        details: "The first key of a ring is active at once. Prints the key's id.", options: [store, json]
    ) { arguments, session in
        try show(try await session.router().createKey(in: ring(arguments)), session)
        return .done
    }

    static let keysRotate = Command(
        name: "keys rotate", operands: "[ID]", count: 0...1,
        summary: "seal what is written from now on under another key",
        details: """
            Makes a new key, or takes the one with ID (or what ID starts, of at least 4 digits), and makes it active. The
            key that was active opens from then on, so everything stays readable. Run reseal to seal what is stored anew.
            Prints the active key's id.
            """,
        options: [store, json]
    ) { arguments, session in
        try show(
            try await session.router().rotateKeys(of: ring(arguments), to: arguments.operands.first), session)
        return .done
    }

    static let keysDisable = Command(
        name: "keys disable", operands: "ID", count: 1...1, summary: "let a key neither seal nor open",
        details: "What it seals cannot be read until it is enabled again. The active key cannot be disabled.",
        options: [store]
    ) { arguments, session in
        try await session.router().disableKey(arguments.operands[0], of: ring(arguments))
        return .done
    }

    static let keysEnable = Command(
        name: "keys enable", operands: "ID", count: 1...1, summary: "let a disabled key open again", options: [store]
    ) { arguments, session in
        try await session.router().enableKey(arguments.operands[0], of: ring(arguments))
        return .done
    }

    static let keysRetire = Command(
        name: "keys retire", operands: "ID", count: 1...1, summary: "remove a key that seals nothing, for good",
        details: """
            Looks at every value in every place where something was sealed under the ring; a key that still seals one is
            kept, and so is the active key.
            """,
        options: [store]
    ) { arguments, session in
        try await session.router().retireKey(arguments.operands[0], of: ring(arguments))
        return .done
    }

    static let keysForget = Command(
        name: "keys forget", operands: "STORE", count: 1...1, summary: "forget where a store was that moved or is gone",
        details: """
            The master keys remember where they sealed something, by what a store was configured as, so that none is retired
            that is still needed. Once a store lies elsewhere, or nowhere, they are to be told: what they know of its folders
            then goes to the store that is called STORE now, if there is one. A store's own keys need not be told.
            """
    ) { arguments, session in
        let store = arguments.operands[0]
        let count = try await session.router().forgetPlaces(ofStore: store)
        Output.remark(
            "ld-host: forgot \(count) place\(count == 1 ? "" : "s") of '\(Printable(store))' as it was configured before"
        )
        return .done
    }

    static let keysAdopt = Command(
        name: "keys adopt", operands: "SERVICE/ACCOUNT", count: 1...1,
        summary: "let a key ring of before open what it has sealed",
        details: """
            A key ring opens values only if it is on the keychain's list, and each ring gets there when it is used. One that
            encryption.service and encryption.account named before LocalData kept that list is put there with this. Adopt none
            that you have never configured: whoever made it could make values that open. Prints the ids of its keys.
            """
    ) { arguments, session in
        let (service, account) = try ringName(arguments.operands[0])
        for key in try await session.router().adoptRing(service: service, account: account) { Output.line(key.id) }
        return .done
    }

    static let keysDisown = Command(
        name: "keys disown", operands: "SERVICE/ACCOUNT", count: 1...1,
        summary: "take a former key ring off the list of rings",
        details: """
            It opens nothing from then on, and what lies at keychain:SERVICE/ACCOUNT can be read and removed as any value.
            Run reseal first: what the ring still seals is unreadable otherwise. keys adopt undoes it.
            """
    ) { arguments, session in
        let (service, account) = try ringName(arguments.operands[0])
        try await session.router().disownRing(service: service, account: account)
        return .done
    }

    private static func ringName(_ text: String) throws -> (service: String, account: String) {
        guard let slash = text.firstIndex(of: "/"), slash != text.startIndex, text.last != "/" else {
            throw UsageError("'\(text)' names no key ring; expected SERVICE/ACCOUNT, as keys list prints it")
        }
        return (String(text[..<slash]), String(text[text.index(after: slash)...]))
    }

    static let reseal = Command(
        name: "reseal", summary: "re-encrypt what another key than the active one protects",
        details: """
            \(ringDetails) What earlier master key rings have sealed is taken along. Every value is readable at every instant;
            a run that is interrupted is taken up by the next. Ends with status 2 if a value cannot be opened; it stays as it
            is.
            """,
        options: [store, Option(name: "--plan", help: "tell what would be done, and change nothing"), json]
    ) { arguments, session in
        let isPlan = arguments.has("--plan")
        let bar = ProgressLine("re-encrypting")
        let report = try await session.router().reseal(ring(arguments), planOnly: isPlan) { bar.show($0, of: $1) }
        bar.finish()
        if session.json {
            try Output.json(report)
        } else {
            for (key, count) in report.others.sorted(by: { $0.key < $1.key }) where isPlan {
                Output.line("\(count) value\(count == 1 ? "" : "s") under the key \(key)")
            }
            Output.line(
                "\(report.resealed) of \(report.total) values \(isPlan ? "would be" : "were") sealed anew under the key "
                    + report.key)
            for (ring, count) in report.earlierRings.sorted(by: { $0.key < $1.key }) {
                Output.line("\(count) of them \(isPlan ? "are" : "were") of the earlier key ring '\(Printable(ring))'")
            }
            for (address, reason) in report.failures.sorted(by: { $0.key < $1.key }) {
                Output.remark("ld-host: \(Printable(address)) stays as it is: \(Printable(reason))")
            }
        }
        return report.failures.isEmpty ? .done : .failure
    }

    private static func ring(_ arguments: Arguments) -> KeyRingName {
        arguments.value("--store").map { .store($0) } ?? .master
    }

    private static func show(_ key: KeyDescription, _ session: Session) throws {
        if session.json { try Output.json(key) } else { Output.line(key.id) }
    }
}
