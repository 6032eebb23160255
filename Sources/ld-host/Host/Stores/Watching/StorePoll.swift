internal import ByteCoding
internal import Glibc
internal import HostGround
internal import HostPlugins
internal import LocalDataAPI

/// Checks a store that cannot report changes once a second.
struct StorePoll: Sendable {
    /// A mark for each name, which changes with the value.
    typealias Sight = [[UInt8]: UInt64]

    let open: OpenStore
    let place: StorageNamespace
    let prefix: String
    /// Whether the prefix is one whole name.
    let exactly: Bool

    /// Reports every difference to `feed` until the task is cancelled. After a failed check, the next one catches up.
    func tell(_ feed: ChangeFeed, after first: Sight) async {
        var last = first
        while (try? await Task.sleep(for: .seconds(1))) != nil {
            guard let now = try? await look() else { continue }
            for name in Set(last.keys).union(now.keys) where last[name] != now[name] {
                feed.add(String(decoding: name, as: UTF8.self))
            }
            last = now
        }
    }

    func look() async throws(StorageError) -> Sight {
        try await open.wait("looking for changes in '\(place)'") { () throws(StorageError) in
            var sight: Sight = [:]
            for name in try names() {
                if let mark = try mark(of: name) { sight[Array(name.utf8)] = mark }
            }
            return sight
        }
    }

    private func names() throws(StorageError) -> [String] {
        guard !exactly else { return [prefix] }
        var names: [String] = []
        try open.store.forEachName(in: place, prefix: prefix) {
            names.append($0)
            return true
        }
        return names
    }

    /// A hash of the stored bytes, or of the store's size and time if those suffice: two recent values may have been
    /// written within the store's time resolution.
    private func mark(of name: String) throws(StorageError) -> UInt64? {
        let handle = HeldHandle(open.store, try open.store.resolve(StorageAddress(place, name: name)))
        return try withExtendedLifetime(handle) { () throws(StorageError) in
            if open.store.abilities.attributes != nil, let known = try open.store.attributes(of: handle.handle),
                let size = known.size, let modified = known.modified, modified > 0,
                Int64(time(nil)) - modified / 1_000_000_000 > 3
            {
                return StableHash.of(["\(size)", "\(modified)"])
            }
            return try open.store.get(handle.handle).map { StableHash.of($0) }
        }
    }
}
