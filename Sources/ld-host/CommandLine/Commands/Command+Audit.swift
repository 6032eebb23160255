internal import FoundationEssentials
internal import LocalDataHost

extension Command {
    static let audit = Command(
        name: "audit", summary: "tell of every key what it is, where it lies, and how it is protected",
        details: """
            The keys are those of the catalogs that the configuration names, also those never written, and everything
            that is stored besides. Values are not read. Ends with status 2 if a store could not be listed or looked at;
            the report then says so and lacks what is in it.
            """,
        options: [json, Option(name: "--html", value: "FILE", help: "write one self-contained HTML page to FILE")]
    ) { arguments, session in
        let report = try await StorageAuditReport.make(of: session.router())
        if let file = arguments.value("--html") {
            try HostFile.write(Data(report.html().utf8), to: file)
            Output.remark("ld-host: the audit is in \(Printable(file))")
        } else if session.json {
            try Output.json(report)
        } else {
            Output.write(Data(report.text().utf8))
        }
        guard !report.failures.isEmpty else { return .done }
        Output.complain(
            "the audit is incomplete: \(report.failures.joined(separator: "; "))", hint: "see: ld-host doctor")
        return .failure
    }
}
