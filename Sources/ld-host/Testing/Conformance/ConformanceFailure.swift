internal import HostPlugins
internal import LocalDataAPI

/// A broken promise: the expected and the found result.
struct ConformanceFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Ends the check with a failure unless `condition` holds.
func expect(_ condition: Bool, _ otherwise: @autoclosure () -> String) throws {
    if !condition { throw ConformanceFailure(otherwise()) }
}
