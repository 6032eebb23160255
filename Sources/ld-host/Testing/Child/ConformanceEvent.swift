/// A child's progress through the checks, one line of JSON per event.
enum ConformanceEvent: Codable, Sendable {
    case began(String)
    case ended(ConformanceResult)
}
