internal import FoundationEssentials
internal import LocalDataHost

/// The child's part of inspecting a plugin.
enum Inspection {
    /// Looks at the file and prints the report.
    static func print(_ path: String, milliseconds: Int64) -> Int32 {
        let report = InspectionProcess.report(on: path, timeout: .milliseconds(milliseconds))
        guard let data = try? JSONEncoder().encode(report) else { return ExitStatus.failure.code }
        Output.write(data)
        return ExitStatus.done.code
    }
}
