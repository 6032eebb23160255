internal import HostClients
internal import LocalDataHost

extension Command {
    private static let repair = Option(
        name: "--repair", help: "first repair stores whose damage blocks changes, and print what was discarded")

    static let doctor = Command(
        name: "doctor", summary: "check the configuration, the plugins and the stores",
        details: """
            With --scrub it also reads every value, decrypts it, and compares it with the checksum that was stored
            with it, which takes as long as reading everything takes. A terminal shows the verdict and what needs
            attention, in order; with --verbose, and elsewhere, everything that was checked is listed. Ends with
            status 2 if something needs attention.
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
            findings += Diagnosis.exposure(of: configuration, flags: session.flags).map { Finding($0, .access) }
        }
        if arguments.has("--scrub") {
            let count = ProgressLine("reading every value")
            findings += await Diagnosis.scrub({ () in try session.router() }) { count.show($0) }
            count.finish()
        }
        if session.json {
            try Output.json(findings)
        } else {
            show(findings, isWhole: arguments.has("--verbose") || !Output.isTerminal)
        }
        return findings.contains { $0.isProblem } ? .failure : .done
    }

    /// Writes findings. A person gets the verdict first, and what needs attention before the rest.
    private static func show(_ findings: [Finding], isWhole: Bool) {
        var findings = findings
        if Output.isTerminal {
            let problems = findings.filter(\.isProblem)
            Output.line(
                problems.isEmpty
                    ? "ok: nothing needs attention"
                    : "\(problems.count) \(problems.count == 1 ? "thing needs" : "things need") attention")
            findings = problems + (isWhole ? findings.filter { !$0.isProblem } : [])
        }
        for finding in findings {
            Output.sentence("\(finding.isProblem ? "!!" : "ok")  \(Printable(finding.text))", indent: 4)
            if !finding.hint.isEmpty { Output.sentence("      \(Printable(finding.hint))", indent: 6) }
        }
        if !isWhole { Output.line("to see everything that was checked: ld-host doctor --verbose") }
    }
}
