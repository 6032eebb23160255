internal import LocalDataAPI

/// The versions of one key that a version has replaced, itself included: per author the latest. Values from before an
/// author joined count apart, since their times are of another kind.
package struct SyncHistory: Hashable, Sendable {
    /// The most versions; beyond that the earliest are forgotten, which at worst keeps a value too many.
    static let mostVersions = 256

    /// The latest versions, in their order. Nearly always there are one or two.
    private(set) var versions: [SyncVersion] = []

    package init(_ versions: some Sequence<SyncVersion> = EmptyCollection()) {
        for version in versions { insert(version) }
        shorten()
    }

    init(_ version: SyncVersion) { versions = [version] }

    /// Whether a version is among them.
    package func includes(_ version: SyncVersion) -> Bool {
        versions.contains { Self.areOfOneLine($0, version) && $0.time >= version.time }
    }

    /// Whether a later version of the same author is among them.
    package func isPast(_ version: SyncVersion) -> Bool {
        versions.contains { Self.areOfOneLine($0, version) && $0.time > version.time }
    }

    package mutating func add(_ version: SyncVersion) {
        insert(version)
        shorten()
    }

    package mutating func add(_ other: SyncHistory) {
        for version in other.versions { insert(version) }
        shorten()
    }

    private mutating func insert(_ version: SyncVersion) {
        if let known = versions.firstIndex(where: { Self.areOfOneLine($0, version) }) {
            guard versions[known].time < version.time else { return }
            versions.remove(at: known)
        }
        versions.insert(version, at: versions.firstIndex { version < $0 } ?? versions.endIndex)
    }

    private static func areOfOneLine(_ one: SyncVersion, _ other: SyncVersion) -> Bool {
        one.author == other.author && one.isFromBefore == other.isFromBefore
    }

    private mutating func shorten() {
        if versions.count > Self.mostVersions { versions.removeFirst(versions.count - Self.mostVersions) }
    }
}
