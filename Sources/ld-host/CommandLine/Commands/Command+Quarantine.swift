internal import FoundationEssentials
internal import HostClients
internal import LocalDataAPI
internal import LocalDataHost

extension Command {
    /// A line of `quarantine list`.
    private struct QuarantineRow: Encodable {
        let id: String
        let address: String
        let store: String
        let date: JSONTime
        let versionTag: String?
        let size: Int
        let reason: String

        init(_ value: QuarantinedValue) {
            id = value.id
            address = value.address
            store = value.store
            date = JSONTime(nanoseconds: value.date.nanoseconds)
            versionTag = value.attributes.versionTag
            size = value.size
            reason = value.reason
        }
    }

    static let quarantineList = Command(
        name: "quarantine list", summary: "list values that no version of the app reads",
        details: """
            When an app cannot read a stored value in any version that it knows, and asks for the default, the value is
            put aside here, sealed as it was. A release of the app that reads it puts it back, unless the key was
            changed. What an app has replaced without having been able to read or convert it is here, too. Prints its
            id, its address, when it was put here, and why. Ends with status 2 if a store could not be searched.
            """,
        options: [json]
    ) { arguments, session in
        try list(try await session.router().quarantine.list(), ifEmpty: "nothing is in quarantine", session)
    }

    private static func list(
        _ found: QuarantinedValue.List, ifEmpty: String, _ session: Session
    ) throws -> ExitStatus {
        let (values, failures) = (found.values, found.failures)
        if session.json {
            try Output.json(values.map { QuarantineRow($0) })
        } else {
            for value in values {
                let date = UTCTime.text(value.date.nanoseconds)
                Output.sentence("\(value.id)  \(date)  \(Printable(value.address))", indent: 2)
                Output.sentence("  \(value.size.counted("byte")); \(Printable(value.reason))", indent: 4)
            }
            if values.isEmpty, failures.isEmpty { Output.remark("ld-host: \(ifEmpty)") }
        }
        for failure in failures { Output.remark("ld-host: not searched: \(Printable(failure.message))") }
        return failures.isEmpty ? .done : .failure
    }

    static let syncConflicts = Command(
        name: "sync conflicts", summary: "list values that lost a conflict with another device's",
        details: """
            When two devices change a value at the same time, the later version wins on all of them. The other one is
            kept for the days of migrations.grace, sealed as it was. Prints its id, its address, when it lost, and
            against what. ld-host sync restore ID makes it the current value again.
            """,
        options: [json]
    ) { _, session in
        try list(try await session.router().syncGroup.conflicts(), ifEmpty: "no value has lost a conflict", session)
    }

    static let syncShow = Command(
        name: "sync show", operands: "ID", count: 1...1, summary: "print a value that lost a conflict",
        details: """
            Prints the bytes of the value ID of ld-host sync conflicts, decrypted, as ld-host get does. The beginning of
            an id is enough if it is unique. --json adds what is recorded with it.
            """,
        options: [json]
    ) { arguments, session in
        try show(try await session.router().syncGroup.conflict(arguments.operands[0]), session)
    }

    static let syncRestore = Command(
        name: "sync restore", operands: "ID", count: 1...1, summary: "restore a value that lost a conflict",
        details: """
            The value that it replaces is kept instead. The other devices get it with the next sync. The beginning of an
            id is enough if it is unique.
            """
    ) { arguments, session in
        let value = try await session.router().syncGroup.restoreConflict(arguments.operands[0])
        Output.remark("ld-host: \(Printable(value.address)) is restored")
        return .done
    }

    static let quarantineShow = Command(
        name: "quarantine show", operands: "ID", count: 1...1, summary: "print a value in quarantine",
        details: """
            Prints the bytes of the value ID, decrypted, as ld-host get does. The beginning of an id is enough if it is
            unique. --json adds what is recorded with it.
            """,
        options: [json]
    ) { arguments, session in
        try show(try await session.router().quarantine.value(arguments.operands[0]), session)
    }

    private static func show(_ found: QuarantinedValue.Content, _ session: Session) throws -> ExitStatus {
        let (value, data) = (found.value, found.data)
        if session.json {
            try Output.json(ValueReport(address: value.address, data: data, attributes: value.attributes))
            return .done
        }
        let writer = ValueWriter()
        data.withUnsafeBytes { writer.write($0) }
        writer.end()
        return .done
    }

    static let quarantineRestore = Command(
        name: "quarantine restore", operands: "ID", count: 1...1, summary: "put a value back under its key",
        details: """
            Use it when a version of the app can read the value again. If the key has another value now, nothing changes
            without --replace.
            """,
        options: [Option(name: "--replace", help: "replace the value that the key has now")]
    ) { arguments, session in
        let value = try await session.router().quarantine.restore(
            arguments.operands[0], replacing: arguments.has("--replace"))
        Output.remark("ld-host: \(Printable(value.address)) is restored")
        return .done
    }

    static let quarantineDrop = Command(
        name: "quarantine drop", operands: "ID", count: 1...1, summary: "remove a value in quarantine for good",
        removes: true
    ) { arguments, session in
        let value = try await session.router().quarantine.drop(arguments.operands[0])
        Output.remark("ld-host: the value of \(Printable(value.address)) in quarantine is removed")
        return .done
    }
}
