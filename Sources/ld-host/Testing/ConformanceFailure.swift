/// A promise that is not kept: what was expected, and what was found.
struct ConformanceFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Ends a check with a failure unless `condition` holds.
func expect(_ condition: Bool, _ otherwise: @autoclosure () -> String) throws {
    if !condition { throw ConformanceFailure(otherwise()) }
}
