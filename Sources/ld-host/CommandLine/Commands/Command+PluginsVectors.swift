internal import ConformanceKit
internal import FoundationEssentials
internal import LocalDataAPI
internal import LocalDataHost

extension Command {
    static let pluginsVectors = Command(
        name: "plugins vectors", operands: "PLUGIN FILE...", count: 2...1000,
        summary: "run test vectors through a crypto provider",
        details: """
            PLUGIN is a plugin's file or a component's id. FILE has the JSON form of the Wycheproof project, with groups
            for ciphers, HKDF, PBKDF2, X25519 or Ed25519. Every vector goes through the plugin's own library. Vectors
            for algorithms that the provider does not declare are skipped, with the reason; a nonce of the wrong size
            must be refused. Exit status 0 means that no vector failed, and at least one of each file ran.
            """,
        options: [Option(name: "--component", value: "ID", help: "the component, if the plugin has several"), json]
    ) { arguments, session in
        let files = try arguments.operands.dropFirst().map { path in
            try VectorFile(Input.contents(of: path, limit: largestVectorFile), name: path)
        }
        let (path, component) = try await provider(
            arguments.operands[0], component: arguments.value("--component"), session)
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let crypto = try PluginImage.load(path).openCrypto(
            component, options: [:], folder: folder.path, log: SilentLog())
        let run = VectorRun(crypto)
        var reports: [VectorReport] = []
        for file in files {
            let report = try run.run(file)
            reports.append(report)
            if !session.json { show(report) }
        }
        let total = VectorTotal(reports)
        if session.json {
            try Output.json(VectorSummary(plugin: path, component: component, files: reports, total: total))
        } else {
            Output.line("total: \(total)")
        }
        let idle = reports.filter { $0.passed == 0 && $0.failed == 0 }
        for report in idle {
            Output.complain(
                "no vector of '\(Printable(report.file))' ran", hint: "give vectors for what '\(component)' declares")
        }
        return total.failed == 0 && idle.isEmpty && !reports.isEmpty ? .done : .failure
    }

    private static let largestVectorFile = 1 << 26

    private static func show(_ report: VectorReport) {
        Output.line("\(Printable(report.file)): \(VectorTotal([report]))")
        for failure in report.failures {
            let comment = failure.comment.isEmpty ? "" : " (\(Printable(failure.comment)))"
            Output.line("  failed: tcId \(failure.tcId)\(comment): \(Printable(failure.reason))")
        }
        for skip in report.skips { Output.line("  skipped: \(skip.count), \(Printable(skip.reason))") }
    }

    /// The plugin's file and its crypto component.
    private static func provider(
        _ operand: String, component: String?, _ session: Session
    ) async throws -> (path: String, component: String) {
        let isPath = operand.contains("/") || operand.hasSuffix(".so")
        let router = try session.router()
        let record =
            try await isPath
            ? router.inspectPlugin(at: operand) : router.plugin(offering: operand, inFile: true)
        let wanted = isPath ? component : operand
        let offered = try record.result.get().components.filter { $0.kind == ComponentKind.crypto.rawValue }
        let found = offered.filter { wanted == nil || $0.id == wanted }
        guard let first = found.first else {
            throw StorageError(
                .componentNotFound,
                "plugin '\(record.candidate.path)' has no crypto component\(wanted.map { " '\($0)'" } ?? "")",
                hint: "see: ld-host plugins inspect '\(record.candidate.path)'")
        }
        guard found.count == 1 else {
            throw StorageError(
                .componentAmbiguous,
                "plugin '\(record.candidate.path)' has the crypto components \(found.map(\.id).joined(separator: ", "))",
                hint: "choose one with --component ID")
        }
        return (record.candidate.path, first.id)
    }
}

/// How many vectors passed, failed and were skipped.
private struct VectorTotal: Encodable, CustomStringConvertible {
    let passed: Int
    let failed: Int
    let skipped: Int

    init(_ reports: [VectorReport]) {
        passed = reports.reduce(0) { $0 + $1.passed }
        failed = reports.reduce(0) { $0 + $1.failed }
        skipped = reports.reduce(0) { $0 + $1.skipped }
    }

    var description: String { "\(passed) passed, \(failed) failed, \(skipped) skipped" }
}

private struct VectorSummary: Encodable {
    let plugin: String
    let component: String
    let files: [VectorReport]
    let total: VectorTotal
}
