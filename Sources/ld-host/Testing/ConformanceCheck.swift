internal import LocalDataAPI

/// One promise of a store: an id, the sentence, when it applies, and how it is tried.
package struct ConformanceCheck: Sendable {
    /// Kebab words with the topic in front: `value.empty`.
    package let id: String
    /// The promise, lower case, no final period.
    package let sentence: String
    let requirements: [ConformanceRequirement]
    let body: @Sendable (StoreUnderTest) throws -> Void

    init(
        _ id: String, _ sentence: String, if requirements: ConformanceRequirement...,
        body: @escaping @Sendable (StoreUnderTest) throws -> Void
    ) {
        self.id = id
        self.sentence = sentence
        self.requirements = requirements
        self.body = body
    }

    /// Every check, in the order of the report: the plain ones first, so that the first failure tells the most.
    package static let all =
        lifecycle + values + names + presence + boundary + threads + enumeration + attributes + streaming + batches
        + watches + transactions + sharing
}
