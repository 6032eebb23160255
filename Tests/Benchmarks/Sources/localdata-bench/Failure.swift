/// Why a measurement would be invalid.
struct Failure: Error, CustomStringConvertible {
    let description: String
}

/// Ends the run unless the measured code also did its work.
func require(_ condition: Bool, _ what: @autoclosure () -> String) throws {
    if !condition { throw Failure(description: what()) }
}
