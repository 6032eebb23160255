internal import FoundationEssentials
internal import LocalDataHost

/// The child's part of inspecting a plugin.
enum Inspection {
    /// Loads the file and prints the report.
    static func print(_ path: String) -> Int32 {
        guard let data = try? JSONEncoder().encode(PluginInspector.report(on: path)) else {
            return ExitStatus.failure.code
        }
        Output.write(data)
        return ExitStatus.done.code
    }
}
