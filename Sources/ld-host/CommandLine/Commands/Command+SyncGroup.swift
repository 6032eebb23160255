internal import DurableFiles
internal import FoundationEssentials
internal import LocalDataAPI
internal import LocalDataHost

// Who is in the sync group.
extension Command {
    private static let name = Option(
        name: "--name", value: "NAME",
        help: "what people call this device while it is in the group; the host's name if not given")

    static let syncInit = Command(
        name: "sync init", summary: "make this device the first of a sync group",
        details: """
            The keys that take part are those with a sync policy in the catalogs of the configuration, or of the app.
            sync.transport names what carries their values, sealed: a folder that another program copies, or a server.
            Then invite the other devices: ld-host sync invite.

            Prints the group's recovery code, which is shown only now and stored nowhere: write it down, and keep it away
            from the devices. With it you remove a stolen device for good: ld-host sync remove.
            """,
        options: [name, json]
    ) { arguments, session in
        let group = try await session.router().syncGroup.create(named: arguments.value("--name"))
        if !session.json {
            Output.line(group.recoveryCode)
            Output.remark(
                "ld-host: this is the group's recovery code, which is shown only now and stored nowhere: write it down")
        }
        try show(try group.report.get(), recoveryCode: group.recoveryCode, session)
        await remarkName(arguments, session)
        return .done
    }

    /// A device keeps its name as long as it is in the group, so one that nobody has chosen is shown while that is easy
    /// to change.
    private static func remarkName(_ arguments: Arguments, _ session: Session) async {
        guard arguments.value("--name") == nil, !session.json,
            let this = try? await session.router().syncGroup.members().first(where: \.isThis)
        else { return }
        Output.remark(
            "ld-host: the others know this device as '\(Printable(this.name))'; to change that, leave the group, and "
                + "give --name when you enter it again")
    }

    static let syncInvite = Command(
        name: "sync invite", summary: "invite a device to the sync group",
        details: """
            Prints a code to type on the new device: ld-host sync join. Until one device has used it, it is revoked, or
            its time is over, anyone with the code can join and read every value that takes part. A device that joins in
            time must also be noticed in time: let a device of the group sync before the invitation ends. --to writes the
            code to a file that only you can read; a file that the shell makes, as with >, may be readable by others.
            --revoke ends all invitations that no device has used.
            """,
        options: [
            Option(name: "--minutes", value: "N", help: "how long the code can be used; 60 if not given"),
            Option(name: "--to", value: "FILE", help: "write the code to FILE, of mode 0600, and not to the output"),
            Option(name: "--revoke", help: "end all unused invitations, and make none"), json,
        ]
    ) { arguments, session in
        if arguments.has("--revoke") { return try await revokeInvitations(arguments, session) }
        struct Row: Encodable {
            let code: String?
            let seconds: Int64
        }
        var minutes = 60
        if let text = arguments.value("--minutes") {
            guard let number = Int(text), (1...10_080).contains(number) else {
                throw UsageError("'\(text)' is not a number of minutes", hint: "give a whole number from 1 to 10080")
            }
            minutes = number
        }
        let invitation = try await session.router().syncGroup.invite(for: .seconds(minutes * 60))
        let file = arguments.value("--to")
        if let file { try HostFile.write(Data("\(invitation.code)\n".utf8), to: file, rule: .secret, isHosts: false) }
        if session.json {
            let code = file == nil ? invitation.code : nil
            try Output.json(Row(code: code, seconds: invitation.lifetime.components.seconds))
            return .done
        }
        if file == nil { Output.line(invitation.code) }
        Output.remark("ld-host: one device can join with this code within \(minutes.counted("minute")); keep it secret")
        return .done
    }

    private static func revokeInvitations(
        _ arguments: Arguments, _ session: Session
    ) async throws -> ExitStatus {
        guard arguments.value("--minutes") == nil, arguments.value("--to") == nil else {
            throw UsageError(
                "--revoke makes no invitation", hint: "run ld-host sync invite again, without --revoke, to make one")
        }
        struct Row: Encodable {
            let revoked: Int
        }
        let count = try await session.router().syncGroup.revokeInvitations()
        if session.json {
            try Output.json(Row(revoked: count))
        } else {
            Output.remark("ld-host: \(count.counted("invitation")) ended")
        }
        return .done
    }

    static let syncJoin = Command(
        name: "sync join", operands: "[CODE]", count: 0...1, summary: "join a sync group",
        details: """
            CODE is what ld-host sync invite printed on a device of the group. Without CODE it is read from standard
            input, where no other user sees it. Where this device and the group have different values of a key, those
            of the group win; the others are kept: see ld-host sync conflicts.
            """,
        options: [name, json]
    ) { arguments, session in
        var code = arguments.operands.first ?? ""
        if code.isEmpty {
            code = String(decoding: try Input.contents(of: "-", limit: 4096), as: UTF8.self)
        }
        let line = code.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
        let report = try await session.router().syncGroup.join(line, named: arguments.value("--name"))
        try show(report, session)
        await remarkName(arguments, session)
        return .done
    }

    static let syncLeave = Command(
        name: "sync leave", summary: "leave the sync group",
        details: """
            Syncs once more before; if that fails, the device stays in the group. The values stay on this device. What no
            other device has taken over yet, the group does not get: let one sync before. To take part again, the device
            needs a new invitation. If the transport cannot be reached any more, --offline leaves
            without it. Then remove this device on another one, which counts it as a member until then: ld-host sync
            remove.
            """,
        options: [
            Option(name: "--offline", help: "leave without a last sync, and without notifying the other devices")
        ], removes: true
    ) { arguments, session in
        try await session.router().syncGroup.leave(offline: arguments.has("--offline"))
        Output.remark("ld-host: this device has left its sync group")
        return .done
    }

    /// A line of `sync devices`.
    private struct DeviceRow: Encodable {
        let id: String
        let name: String
        let role: DeviceRole
        let isThis: Bool
        let isForgotten: Bool
        let since: JSONTime

        init(_ member: SyncMember) {
            id = member.id
            name = member.name
            role = member.role
            isThis = member.isThis
            isForgotten = member.isForgotten
            since = JSONTime(nanoseconds: Int64(clamping: member.since) &* 1_000_000)
        }
    }

    static let syncDevices = Command(
        name: "sync devices", summary: "list the devices of the sync group",
        details: """
            The device that has been in the group longest comes first. Prints the id, the role, when it joined, and its
            name. A device that was away for longer than sync.forget comes last: it reads nothing that was published
            since, and takes part again when it has joined by an invitation.
            """,
        options: [json]
    ) { _, session in
        let members = try await session.router().syncGroup.members()
        guard !session.json else {
            try Output.json(members.map { DeviceRow($0) })
            return .done
        }
        var table = Table()
        for member in members {
            let date = UTCTime.seconds(Int64(clamping: member.since / 1000))
            let mark = member.isThis ? " (this device)" : member.isForgotten ? " (away)" : ""
            table.add(member.id, member.role.rawValue, date, member.name + mark)
        }
        table.print()
        return .done
    }

    static let syncRemove = Command(
        name: "sync remove", operands: "DEVICE", count: 1...1, summary: "remove a device from the sync group",
        details: """
            DEVICE is its id, the beginning of it, or its name. The device keeps what it has, and can read what was
            published until now, but nothing that is published later. If it was stolen, change the secrets that it had,
            and give --recovery-code: then nothing counts that it has done and that this device does not know, not even
            that it has removed this one. Without the code, of two devices that remove each other, the one stays whose
            removal other devices knew first, or else the one that is longer in the group.
            """,
        options: [
            Option(
                name: "--recovery-code", help: "ask for the recovery code that ld-host sync init has shown"),
            Option(
                name: "--recovery-code-fd", value: "N", help: "read that code from the file descriptor N, to its end"),
            json,
        ], removes: true
    ) { arguments, session in
        let code = try recoveryCode(arguments)
        let router = try session.router()
        let isSenior = try await isSenior(arguments.operands[0], router)
        try show(try await router.syncGroup.remove(arguments.operands[0], recoveryCode: code), session)
        if code == nil, isSenior {
            Output.remark(
                "ld-host: the removed device is longer in the group than this one, and could undo this until another device "
                    + "has synced; if it was stolen, remove it with --recovery-code")
        }
        return .done
    }

    /// Whether a device comes before this one; `false` if that cannot be said.
    private static func isSenior(_ device: String, _ router: StorageRouter) async throws -> Bool {
        guard let members = try? await router.syncGroup.members() else { return false }
        return members.prefix { !$0.isThis }.contains { $0.name == device || $0.id.hasPrefix(device) }
    }

    private static func recoveryCode(_ arguments: Arguments) throws -> String? {
        let secret: SecretBytes
        if let text = arguments.value("--recovery-code-fd") {
            guard let number = Int32(text), number >= 0 else {
                throw UsageError(
                    "'\(text)' is not a file descriptor", hint: "give its number, e.g. --recovery-code-fd 3 3<FILE")
            }
            secret = try RecoveryCode.reading(number)
        } else if arguments.has("--recovery-code") {
            let nothing = StorageError(.cancelled, "no recovery code was typed")
            guard let line = try Terminal.line(prompt: "recovery code: ", isHidden: true, orElse: nothing) else {
                throw StorageError(
                    .securityApplicationFailed, "there is no terminal to prompt for the recovery code",
                    hint: "run it in a terminal, or give --recovery-code-fd N")
            }
            secret = line
        } else {
            return nil
        }
        return secret.withBytes { String(decoding: $0, as: UTF8.self) }
    }
}
