/// Why a measurement would not mean what it says.
struct Failure: Error, CustomStringConvertible {
    let description: String
}

/// Ends the run unless what was measured also did its work.
func require(_ condition: Bool, _ what: @autoclosure () -> String) throws {
    if !condition { throw Failure(description: what()) }
}
