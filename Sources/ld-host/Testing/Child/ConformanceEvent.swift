/// What a child tells while it tries checks, one line of JSON each.
enum ConformanceEvent: Codable, Sendable {
    case began(String)
    case ended(ConformanceResult)
}
