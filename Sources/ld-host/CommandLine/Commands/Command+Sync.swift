internal import FoundationEssentials
internal import LocalDataAPI
internal import LocalDataHost

extension Command {
    /// The JSON of `sync status` and of the commands that sync.
    private struct StatusRow: Encodable {
        let device: String
        let members: Int
        let keys: Int
        let isJoining: Bool
        let isComplete: Bool
        let awaited: [String]
        let pending: Int
        let tooLarge: [String]
        let keptAside: [String]
        let leftOut: [SyncReport.LeftOut]
        let removalsToAccept: Int
        let changed: [String]
        let conflicts: Int
        let refused: SyncReport.Refused
        /// In the form of RFC 3339.
        let lastSync: String?
        /// Of a new group.
        let recoveryCode: String?

        init(_ report: SyncReport, recoveryCode: String?) {
            self.recoveryCode = recoveryCode
            (device, members, keys) = (report.device, report.members, report.keys)
            (isJoining, isComplete, awaited) = (report.isJoining, report.isComplete, report.awaited)
            (pending, leftOut) = (report.pending, report.leftOut)
            (tooLarge, keptAside, removalsToAccept) = (report.tooLarge, report.keptAside, report.removalsToAccept)
            (changed, conflicts, refused) = (report.changed, report.conflicts, report.refused)
            lastSync = report.lastSync.map { UTCTime.text($0.nanoseconds) }
        }
    }

    static let syncStatus = Command(
        name: "sync status", summary: "show the state of sync",
        details: """
            Contacts no other device, so it shows the state as of the last sync, and when that was. To see what others
            have published since: ld-host sync pull. Ends with status 2 if removals wait for you.
            """,
        options: [json]
    ) { _, session in
        let report = try await session.router().syncGroup.report()
        try show(report, isPast: true, session)
        return status(of: report)
    }

    static let syncPush = Command(
        name: "sync push", operands: "[ADDRESS]", count: 0...1, summary: "publish what has changed here",
        details: """
            First takes in what other devices have published, as ld-host sync pull does, since a newer version of a
            value may be among it. ADDRESS names a key with the policy manual, whose value is published only when you
            name it here, or when an app asks for it. Ends with status 2 if removals wait for you.
            """,
        options: [json]
    ) { arguments, session in
        let router = try session.router()
        guard let address = arguments.operands.first else { return try shown(try await router.sync(), session) }
        return try shown(try await router.sync(try await Address.key(address, router)), session)
    }

    static let syncPull = Command(
        name: "sync pull", summary: "take in what other devices have published",
        details: """
            Prints the addresses of the values that have changed. What has changed here is published, too. If the
            transport has damaged or lost values, --from-start finds those of this device and publishes them again. If
            the store of userDefaults has lost the record of the group, --recover reads it again and takes over the
            group's values again: only for a device that was in the group, since anyone who makes you use keys of theirs
            reads what you sync. Ends with status 2 if removals wait for you.
            """,
        options: [
            Option(name: "--from-start", help: "read everything again, and not only what is new"), json,
            Option(name: "--recover", help: "read a record of the group that was lost again"),
        ]
    ) { arguments, session in
        if arguments.has("--recover") {
            let devices = try await session.router().syncGroup.recover().map { "\(Printable($0))" }
            Output.remark("ld-host: the sync group has the devices \(devices.joined(separator: ", "))")
        }
        return try shown(try await session.router().sync(fromStart: arguments.has("--from-start")), session)
    }

    static let syncWatch = Command(
        name: "sync watch", summary: "sync until interrupted",
        details: """
            Syncs at once, and whenever a value changes here or on another device. Prints a line for each value that
            another device has changed: changed ADDRESS. It prints names, never values. If the other side cannot be
            reached, it tries again.
            """,
        options: [
            Option(name: "--count", value: "N", help: "end after N lines"),
            Option(name: "--json", help: "print each line as a JSON object"),
        ]
    ) { arguments, session in
        let count = try arguments.value("--count").map { text in
            guard let count = Int(text), count > 0 else {
                throw UsageError("'\(text)' is not a number of lines", hint: "give a whole number of 1 or more")
            }
            return count
        }
        let router = try session.router(isLong: true)
        let changes = router.syncGroup.changes()
        let syncing = Task {
            try await router.syncContinuously { result in
                if case .failure(let error) = result {
                    Output.remark("ld-host: not synced, trying again: \(Printable(error.message))")
                }
            }
        }
        let printing = Task {
            var left = count ?? .max
            for await address in changes {
                try line(address, session)
                left -= 1
                if left <= 0 { break }
            }
            syncing.cancel()
        }
        defer { printing.cancel() }
        do { try await syncing.value } catch is CancellationError { try await printing.value }
        return .done
    }

    private static func line(_ address: String, _ session: Session) throws {
        struct Line: Encodable { let address: String }
        guard session.json else { return Output.line("changed \(Printable(address))") }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        Output.write(PrintableText.escaped(json: try encoder.encode(Line(address: address))) + Data("\n".utf8))
    }

    static let syncAccept = Command(
        name: "sync accept", summary: "apply removals that wait for your consent",
        details: """
            If other devices have removed more than half of the values, and more than 20, nothing is removed here until
            you say so. ld-host sync status shows how many wait. Removals that arrive during this call wait for the next
            one; then the status is 2.
            """,
        options: [json]
    ) { _, session in
        try shown(try await session.router().syncGroup.acceptRemovals(), session)
    }

    /// - Returns: Whether something waits for a person.
    private static func shown(_ report: SyncReport, _ session: Session) throws -> ExitStatus {
        try show(report, session)
        return status(of: report)
    }

    private static func status(of report: SyncReport) -> ExitStatus {
        report.removalsToAccept > 0 ? .failure : .done
    }

    /// - Parameter isPast: Whether the report is of the last sync, and not of one that was made now.
    static func show(
        _ report: SyncReport, recoveryCode: String? = nil, isPast: Bool = false, _ session: Session
    ) throws {
        guard !session.json else { return try Output.json(StatusRow(report, recoveryCode: recoveryCode)) }
        for address in report.changed { Output.line("changed \(Printable(address))") }
        for sentence in sentences(report, isPast: isPast) { Output.remark("ld-host: \(sentence)") }
    }

    private static func sentences(_ report: SyncReport, isPast: Bool) -> [String] {
        let awaited = report.awaited.map { "'\(Printable($0))'" }.joined(separator: ", ")
        let state =
            if report.members == 1 {
                "no other device is in the group"
            } else if report.isJoining {
                "this device is still adopting the group's values"
                    + (report.awaited.isEmpty ? "" : ", and waits for \(awaited)")
            } else {
                report.isComplete
                    ? "everything that the others published is here" : "waiting for changes from \(awaited)"
            }
        let time = report.lastSync.map { "the last sync, at \(UTCTime.text($0.nanoseconds))" } ?? "an earlier sync"
        var sentences = [
            "\(report.keys.counted("key")) on \(report.members.counted("device")): "
                + (isPast ? "as of \(time), \(state)" : state)
        ]
        if report.keys == 0 {
            sentences.append(
                "no key has a sync policy in a catalog that the configuration names; an app knows its own, and ld-host "
                    + "reads those that it has written: ld-host config set catalogs '[\"FILE\"]'")
        }
        if report.pending > 0 { sentences.append("\(report.pending.counted("change")) not published yet") }
        for address in report.tooLarge {
            sentences.append(
                "\(Printable(address)) is larger than sync.maxAutoSyncSize, or than what the transport carries; it stays on this device"
            )
        }
        for address in report.keptAside {
            sentences.append(
                "another device's value of \(Printable(address)) is kept aside, since its key here cannot read it; what "
                    + "changes here is not published")
        }
        for left in report.leftOut {
            sentences.append(
                "\(Printable(left.address)) does not take part until it can be read: \(Printable(left.reason))")
        }
        if report.conflicts > 0 {
            let were = report.conflicts == 1 ? "was" : "were"
            sentences.append(
                "\(report.conflicts.counted("value")) lost to a later version and \(were) kept: "
                    + "ld-host sync conflicts")
        }
        if report.removalsToAccept > 0 {
            let wait = report.removalsToAccept == 1 ? "waits" : "wait"
            sentences.append(
                "\(report.removalsToAccept.counted("removal")) by other devices \(wait) for you: ld-host sync accept")
        }
        let refused = report.refused
        // A transport may bring a record again, so those that count as replayed need not mean anything.
        if refused.forged + refused.foreign > 0 {
            sentences.append(
                "refused records: \(refused.forged) forged or of another group, \(refused.foreign) of devices that never were "
                    + "members")
        }
        if refused.foreign > 0 {
            sentences.append(
                "if a device has joined that 'ld-host sync devices' does not list, run on it: ld-host sync pull --from-start"
            )
        }
        return sentences
    }
}
