internal import HostClients
internal import LocalDataHost

extension Command {
    private static let repair = Option(
        name: "--repair", help: "first repair what keeps a store from being changed, and tell what was given up for it")

    static let doctor = Command(
        name: "doctor", summary: "check configuration, plugins and stores, and tell what serves what and why",
        details: """
            With --scrub it also reads every value and compares it with the checksum that it was stored with; sealed values
            are opened. That takes as long as reading everything takes. Ends with status 2 if something needs attention.
            """,
        options: [
            Option(name: "--scrub", help: "read every value, and list those that are damaged or were edited by others"),
            json, repair,
        ]
    ) { arguments, session in
        let configuration = try? session.uncheckedConfiguration()
        var findings = await Diagnosis.run(repairing: arguments.has("--repair"), of: configuration) { () in
            try session.router()
        }
        if let configuration {
            findings += Diagnosis.exposure(of: configuration, flags: session.flags).map { Finding($0) }
        }
        if arguments.has("--scrub") {
            let count = ProgressLine("reading every value")
            findings += await Diagnosis.scrub({ () in try session.router() }) { count.show($0) }
            count.finish()
        }
        if session.json {
            try Output.json(findings)
        } else {
            for finding in findings {
                Output.sentence("\(finding.isProblem ? "!!" : "ok")  \(Printable(finding.text))", indent: 4)
                if !finding.hint.isEmpty { Output.sentence("      \(Printable(finding.hint))", indent: 6) }
            }
        }
        return findings.contains { $0.isProblem } ? .failure : .done
    }
}
