/// Why something could not be measured.
struct Failure: Error, CustomStringConvertible {
    let description: String
}
