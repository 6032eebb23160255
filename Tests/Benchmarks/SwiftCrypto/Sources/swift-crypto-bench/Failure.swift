/// Why a measurement would not mean what it says.
struct Failure: Error, CustomStringConvertible {
    let description: String
}
