/// Why a measurement would be invalid.
struct Failure: Error, CustomStringConvertible {
    let description: String
}
