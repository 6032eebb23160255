internal import FoundationEssentials
internal import LocalDataAPI
internal import LocalDataHost

extension Command {
    private struct Row: Encodable {
        let address: String
        let size: UInt64?
        let modified: Int64?
        let serializer: String?
    }

    static let list = Command(
        name: "ls", operands: "[DOMAIN[:SCOPE][/PREFIX]]", count: 0...1, summary: "list what is stored",
        details: """
            One address a line; without an argument those of every domain. A control character in a name is shown as
            an escape; use --json or --null where names must be exact.
            """,
        options: [
            Option(name: "--long", short: "-l", help: "show size and time of writing too"),
            Option(name: "--null", short: "-0", help: "end each address with a NUL instead of a line end"), json,
        ]
    ) { arguments, session in
        let router = try session.router()
        var status = ExitStatus.done
        let selection: [(domain: StorageDomain, prefix: String)]
        if let operand = arguments.operands.first {
            selection = [try Address.domain(operand)]
        } else {
            let (domains, failures) = try await router.populatedDomains()
            for failure in failures { Output.complain(failure.message, hint: failure.hint) }
            if !failures.isEmpty { status = .failure }
            selection = domains.map { ($0, "") }
        }
        var rows: [Row] = []
        let wantsDetails = session.json || arguments.has("--long")
        for (domain, prefix) in selection {
            var after: String?
            while true {
                let page = try await router.names(in: domain, prefix: prefix, after: after, limit: 10_000)
                for name in page {
                    let address = Address.text(domain, name)
                    if wantsDetails {
                        let attributes = await attributes(of: key(domain, name), router, &status)
                        rows.append(
                            Row(
                                address: address, size: attributes?.size, modified: attributes?.modified,
                                serializer: attributes?.serializer))
                    } else if arguments.has("--null") {
                        Output.write(Data("\(address)\0".utf8))
                    } else {
                        Output.line("\(Printable(address))")
                    }
                }
                guard page.count == 10_000 else { break }
                after = page.last
            }
        }
        await session.remarkLeftValues(of: arguments.operands.isEmpty ? nil : selection.first?.domain.name, router)
        if session.json {
            try Output.json(rows)
        } else if wantsDetails {
            var table = Table()
            for row in rows {
                table.add(
                    row.size.map(String.init) ?? "-", row.modified.map(UTCTime.text) ?? "-",
                    "\(Printable(row.address))")
            }
            table.print(width: nil)
        }
        return status
    }

    /// A value's attributes; of one that cannot be opened none, with a complaint.
    private static func attributes(
        of key: AnyStorageKey, _ router: StorageRouter, _ status: inout ExitStatus
    ) async -> ValueAttributes? {
        do { return try await router.attributesAtOnce(of: key) } catch {
            let error = (error as? StorageError) ?? StorageError(.unknown, "\(error)")
            Output.complain(error.message, hint: error.hint)
            status = .failure
            return nil
        }
    }

    /// A key of which only the place and the name are known.
    static func key(_ domain: StorageDomain, _ name: String) -> AnyStorageKey {
        AnyStorageKey(StorageKeyDescriptor(name: name, domain: domain))
    }
}
