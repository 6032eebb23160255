package import FoundationEssentials

/// A value and the version tag that it is stored with, both of one write.
package struct TaggedValue: Sendable {
    package let data: Data
    package let tag: String?
}
