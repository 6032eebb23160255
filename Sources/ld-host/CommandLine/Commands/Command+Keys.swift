internal import HostClients
internal import LocalDataHost

extension Command {
    private static let store = Option(name: "--store", value: "NAME", help: "the keys of the sealed store NAME")
    private static let ringDetails = """
        Master keys protect the values of keys with an encryption policy. They are kept in the keychain domain, whose
        store is sealed with keys of its own; --store NAME selects the keys of a sealed store.
        """

    /// A line of `keys list`.
    private struct KeyRow: Encodable {
        var id: String?
        let state: String
        var created: JSONTime?
        var values: Int?
        /// Of a former ring or store's key, where it lies in the keychain.
        var ring: String?
        var kind: String?
    }

    static let keysList = Command(
        name: "keys list", summary: "list the master keys",
        details: """
            \(ringDetails) Prints one key a line: its id, its state, and when it was created. An active key encrypts
            and decrypts, a decrypt-only key decrypts, and a disabled key does neither. The first encrypted value
            creates the first key. Keys marked former belong to rings or stores that the configuration named before.
            """,
        options: [
            store, Option(name: "--values", help: "count the values that each key protects, by reading all of them"),
            json,
        ]
    ) { arguments, session in
        let keys = try await session.router().keys.list(of: ring(arguments), counting: arguments.has("--values"))
        let former = arguments.value("--store") == nil ? try await session.router().keys.formerRings() : []
        let rows =
            keys.map { KeyRow(id: $0.id, state: $0.state, created: JSONTime(seconds: $0.created), values: $0.values) }
            + former.flatMap { ring in
                let (name, kind) = ("\(ring.service)/\(ring.account)", ring.isStoreKey ? "store key" : "key ring")
                return ring.isStoreKey
                    ? [KeyRow(state: "former", ring: name, kind: kind)]
                    : ring.keys.map {
                        KeyRow(
                            id: $0.id, state: "former", created: JSONTime(seconds: $0.created), ring: name, kind: kind)
                    }
            }
        if session.json {
            try Output.json(rows)
            return .done
        }
        var table = Table()
        for row in rows {
            let cells = [row.id ?? "-", row.state, row.created.map { "\($0)" } ?? "-"]
            if let values = row.values {
                table.add(cells[0], cells[1], cells[2], "\(values) value\(values == 1 ? "" : "s")")
            } else if let ring = row.ring, let kind = row.kind {
                table.add(cells[0], cells[1], cells[2], "\(kind) \(Printable(ring))")
            } else {
                table.add(cells[0], cells[1], cells[2])
            }
        }
        table.print()
        if rows.isEmpty { Output.remark("ld-host: there are no keys yet; the first sealed value creates one") }
        return .done
    }

    static let keysCreate = Command(
        name: "keys create", summary: "create a master key for a later rotation",
        details: "The first key of a ring is active at once. Prints the key's id.", options: [store, json]
    ) { arguments, session in
        try show(try await session.router().keys.create(in: ring(arguments)), session)
        return .done
    }

    static let keysRotate = Command(
        name: "keys rotate", operands: "[ID]", count: 0...1,
        summary: "encrypt new values with another master key",
        details: """
            Creates a key, or takes the key ID (its first 4 digits or more are enough), and makes it active. The
            former active key still decrypts, so every value stays readable. Run reseal to re-encrypt stored values.
            Prints the active key's id.
            """,
        options: [store, json]
    ) { arguments, session in
        try show(
            try await session.router().keys.rotate(of: ring(arguments), to: arguments.operands.first), session)
        return .done
    }

    static let keysDisable = Command(
        name: "keys disable", operands: "ID", count: 1...1, summary: "stop a master key from encrypting and decrypting",
        details: """
            Values that it protects cannot be read until it is enabled again. The active key cannot be disabled.
            """,
        options: [store]
    ) { arguments, session in
        try await session.router().keys.disable(arguments.operands[0], of: ring(arguments))
        return .done
    }

    static let keysEnable = Command(
        name: "keys enable", operands: "ID", count: 1...1, summary: "let a disabled master key decrypt again",
        options: [store]
    ) { arguments, session in
        try await session.router().keys.enable(arguments.operands[0], of: ring(arguments))
        return .done
    }

    static let keysRetire = Command(
        name: "keys retire", operands: "ID", count: 1...1, summary: "remove an unused master key for good",
        details: """
            Reads every value in every location where the ring has encrypted something. A key that still protects a
            value is kept, and so is the active key. If machines share the ring, this takes at least 6 seconds: first
            each machine has to notice that the key is no longer active.
            """,
        options: [store], removes: true
    ) { arguments, session in
        try await session.router().keys.retire(arguments.operands[0], of: ring(arguments))
        return .done
    }

    static let keysForget = Command(
        name: "keys forget", operands: "STORE", count: 1...1,
        summary: "forget the old location of a store that moved or is gone",
        details: """
            So that no key is retired too early, the key ring records where it has encrypted something, by the store's
            configuration. If you move or remove a store, run this command: what the ring remembers then applies to the
            store that is called STORE now, if there is one. If STORE is empty, or a folder in which it had values does
            not exist, the ring forgets these locations. First make sure that every disk is mounted. A sealed store's
            own keys need no such command.
            """, removes: true
    ) { arguments, session in
        let store = arguments.operands[0]
        let count = try await session.router().keys.forgetPlaces(ofStore: store)
        Output.remark(
            "ld-host: forgot \(count) location\(count == 1 ? "" : "s") of '\(Printable(store))' as it was configured "
                + "before")
        return .done
    }

    static let keysAdopt = Command(
        name: "keys adopt", operands: "SERVICE/ACCOUNT", count: 1...1,
        summary: "trust a key ring or store key of the keychain",
        details: """
            A key ring decrypts values, and the key of a sealed store opens it, only if it is on the keychain's list. The
            host adds what it creates. This command adds what it did not create: after the list was lost, or if you made
            the ring or the key yourself. Never adopt what somebody else may have created: its creator could decrypt
            your values, and forge some. Prints the ids of a ring's keys.
            """
    ) { arguments, session in
        let (service, account) = try ringName(arguments.operands[0])
        for key in try await session.router().keys.adoptRing(service: service, account: account) { Output.line(key.id) }
        return .done
    }

    static let keysDisown = Command(
        name: "keys disown", operands: "SERVICE/ACCOUNT", count: 1...1,
        summary: "stop a former key ring from decrypting",
        details: """
            The ring decrypts nothing from then on, and keychain:SERVICE/ACCOUNT can be read and removed like any
            value. Run reseal first: values that the ring still protects become unreadable. keys adopt undoes it.
            """, removes: true
    ) { arguments, session in
        let (service, account) = try ringName(arguments.operands[0])
        try await session.router().keys.disownRing(service: service, account: account)
        return .done
    }

    private static func ringName(_ text: String) throws -> (service: String, account: String) {
        guard let slash = text.firstIndex(of: "/"), slash != text.startIndex, text.last != "/" else {
            throw UsageError("'\(text)' names no key ring; expected SERVICE/ACCOUNT, as keys list prints it")
        }
        return (String(text[..<slash]), String(text[text.index(after: slash)...]))
    }

    static let reseal = Command(
        name: "reseal", summary: "re-encrypt values that an old key protects",
        details: """
            \(ringDetails) Values that former key rings protect are included. Every value stays readable at every
            moment, and the next run resumes an interrupted one. Ends with status 2 if a value cannot be decrypted;
            that value stays as it is.
            """,
        options: [store, Option(name: "--plan", help: "print what would be done, and change nothing"), json]
    ) { arguments, session in
        let isPlan = arguments.has("--plan")
        let bar = ProgressLine("re-encrypting")
        Interruption.begin()
        let report = try await session.router().keys.reseal(ring(arguments), planOnly: isPlan) { done, total in
            Interruption.endHere(
                "\(done.grouped) of \(total.counted("value", isGrouped: true)) done",
                hint: isPlan ? "nothing was changed" : "run it again to go on; every value can be read meanwhile")
            bar.show(done, of: total)
        }
        bar.finish()
        if session.json {
            try Output.json(report)
        } else {
            for (key, count) in report.others.sorted(by: { $0.key < $1.key }) where isPlan {
                Output.line("\(count.counted("value")) under the key \(key)")
            }
            let verb = isPlan ? "would be" : report.total == 1 ? "was" : "were"
            Output.line(
                "\(report.resealed) of \(report.total.counted("value")) \(verb) re-encrypted under the key \(report.key)"
            )
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
