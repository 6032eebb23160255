internal import FoundationEssentials

/// A value and the version tag that it is stored with, both of one write.
struct TaggedValue: Sendable {
    let data: Data
    let tag: String?
}
