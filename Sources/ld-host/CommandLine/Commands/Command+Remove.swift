internal import LocalDataAPI
internal import LocalDataHost

extension Command {
    static let remove = Command(
        name: "rm", operands: "ADDRESS...", count: 1...4096, summary: "remove values",
        details: "Ends with status 1 if one of them was not stored; the others are removed."
    ) { arguments, session in
        let router = try session.router()
        var keys: [AnyStorageKey] = []
        for address in arguments.operands { keys.append(try await Address.key(address, router)) }
        var status = ExitStatus.done
        for (key, address) in zip(keys, arguments.operands) where try await !router.removeIfStored(key) {
            Output.remark("ld-host: '\(Printable(address))' is not stored")
            status = .notFound
        }
        return status
    }

    static let exists = Command(
        name: "exists", operands: "ADDRESS", count: 1...1,
        summary: "check whether a value is stored: exit status 0 or 1",
        details: "Prints nothing. Ends with status 0 if the value is stored, and with 1 if it is not.", options: [json]
    ) { arguments, session in
        let router = try session.router()
        let isStored = try await router.exists(Address.key(arguments.operands[0], router))
        if session.json { try Output.json(["exists": isStored]) }
        return isStored ? .done : .notFound
    }
}
