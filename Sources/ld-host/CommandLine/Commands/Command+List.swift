internal import FoundationEssentials
internal import LocalDataAPI
internal import LocalDataHost

extension Command {
    private struct Row: Encodable {
        let address: String
        let size: UInt64?
        let modified: JSONTime?
        let serializer: String?
        let expires: JSONTime?
    }

    static let list = Command(
        name: "ls", operands: "[DOMAIN[:SCOPE][/PREFIX]]", count: 0...1, summary: "list what is stored",
        details: """
            Prints one address per line, in the form that get takes; without an argument, those of every domain and app.
            \(Address.selectionHelp)
            --apps lists the apps that have values, one per line, for --app: the suites of userDefaults, and the apps
            with files.
            Of folders of your own choosing, which other programs use too, only keys of catalogs are listed unless you
            name the folder. Folders that you must not read are left out and reported, and the status is 2.
            A control character in a name is printed as an escape; use --json or --null if you need
            exact names.
            """,
        options: [
            Option(name: "--long", short: "-l", help: "show size and time of writing too, and when a value expires"),
            Option(name: "--apps", help: "list the apps that have values, and no values"),
            Option(
                name: "--expired",
                help: "list the expired values of DOMAIN[:SCOPE] that are still stored; the next ls removes them"
            ),
            Option(name: "--null", short: "-0", help: "end each address with a NUL instead of a newline"), json,
        ]
    ) { arguments, session in
        let router = try session.router()
        if arguments.has("--apps") { return try await listApps(arguments, session, router) }
        if arguments.has("--expired") { return try await listExpired(arguments, session, router) }
        let selection = try Address.selection(arguments.operands.first)
        let (scopes, failures) = try await router.scopes(of: selection)
        for failure in failures { Output.complain(failure) }
        var status = failures.isEmpty ? ExitStatus.done : .failure
        var list = session.json ? JSONList() : nil
        var table = Table()
        for scope in scopes {
            do {
                try await router.forEachName(in: scope) { name in
                    let address = Address.text(scope.domain, name)
                    guard session.json || arguments.has("--long") else { return show(address, arguments) }
                    let known = await attributes(of: key(scope.domain, name), router, &status)
                    if session.json {
                        try list?.add(
                            Row(
                                address: address, size: known?.size,
                                modified: known?.modified.map { JSONTime(nanoseconds: $0) },
                                serializer: known?.serializer,
                                expires: known?.expires.map { JSONTime(nanoseconds: $0) }))
                    } else {
                        let end = known?.expires.map { "  (expires \(UTCTime.text($0)))" } ?? ""
                        table.add(
                            known?.size.map(String.init) ?? "-", known?.modified.map(UTCTime.text) ?? "-",
                            address + end)
                        if table.count == linesAtOnce { table.print(width: nil) }
                    }
                }
            } catch let error as StorageError where scopes.count > 1 && error.code == .permissionDenied {
                // The others can be listed.
                Output.complain(error)
                status = .failure
            }
        }
        list?.end()
        table.print(width: nil)
        await session.remarkLeftValues(of: selection.domain, router)
        return status
    }

    private struct AppRow: Encodable {
        let app: String
    }

    private static func listApps(
        _ arguments: Arguments, _ session: Session, _ router: StorageRouter
    ) async throws -> ExitStatus {
        guard arguments.operands.isEmpty, !arguments.has("--long"), !arguments.has("--expired") else {
            throw UsageError("--apps takes no address, and neither --long nor --expired")
        }
        let (apps, failures) = try await router.apps()
        for failure in failures { Output.complain(failure) }
        var list = session.json ? JSONList() : nil
        for app in apps {
            if session.json { try list?.add(AppRow(app: app)) } else { show(app, arguments) }
        }
        list?.end()
        return failures.isEmpty ? .done : .failure
    }

    /// Lists what has expired in one scope of a domain: finding the scopes removes it.
    private static func listExpired(
        _ arguments: Arguments, _ session: Session, _ router: StorageRouter
    ) async throws -> ExitStatus {
        guard let operand = arguments.operands.first else {
            throw UsageError("--expired needs DOMAIN[:SCOPE]", hint: "run: ld-host ls --expired userDefaults:SUITE")
        }
        guard !arguments.has("--long") else { throw UsageError("--expired and --long cannot be combined") }
        let (domain, prefix) = try Address.domain(operand)
        var list = session.json ? JSONList() : nil
        for name in try await router.stores.expiredNames(in: domain, prefix: prefix) {
            let address = Address.text(domain, name)
            guard session.json else {
                show(address, arguments)
                continue
            }
            try list?.add(Row(address: address, size: nil, modified: nil, serializer: nil, expires: nil))
        }
        list?.end()
        return .done
    }

    /// Prints an address on a line of its own.
    private static func show(_ address: String, _ arguments: Arguments) {
        let isExact = arguments.has("--null")
        Output.write(Data((isExact ? "\(address)\0" : "\(Printable(address))\n").utf8))
    }

    /// How many lines of a table are laid out together.
    private static let linesAtOnce = 1000

    /// A value's attributes; of one that cannot be opened none, with a complaint.
    private static func attributes(
        of key: AnyStorageKey, _ router: StorageRouter, _ status: inout ExitStatus
    ) async -> ValueAttributes? {
        do { return try await router.attributesAtOnce(of: key) } catch {
            let error = StorageError(wrapping: error)
            Output.complain(error)
            status = .failure
            return nil
        }
    }

    /// A key of which only the place and the name are known.
    static func key(_ domain: StorageDomain, _ name: String) -> AnyStorageKey {
        AnyStorageKey(StorageKeyDescriptor(name: name, domain: domain))
    }
}
