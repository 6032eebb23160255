/// What a JSON decoder complains about, with the place if it tells one.
enum JSONFailure {
    static func text(_ error: any Error) -> String {
        guard case DecodingError.dataCorrupted(let context) = error else { return "\(error)" }
        return context.underlyingError.map { "\($0)" } ?? context.debugDescription
    }
}
