internal import FoundationEssentials
package import HostGround
package import LocalDataAPI

/// The domains whose values were moved out of a store. To a program that still uses that store they look like values
/// that were removed, so sync stops there. Only read and changed while sync's lock is held.
package struct MovedDomains {
    package struct Move: Codable, Hashable {
        let domain: String
        /// The identity and the name of the store that had the values.
        let identity: UInt64
        let from: String
        /// The name of the store that has them.
        let to: String
        /// The number of the run that moved them.
        let number: Int
        /// The identity of the store that has them, and when it had all of them and no others, in milliseconds since
        /// 1970 UTC; `nil` if it may have others.
        let arrival: Arrival?
        /// Whether sync has found that another store serves the domain since.
        var isFollowed = false
    }

    package struct Arrival: Codable, Hashable {
        let identity: UInt64
        let time: UInt64
    }

    private struct Content: Codable, Equatable {
        var last = 0
        var moves: [Move] = []
    }

    private var content = Content()
    private let saved: Content
    private let file: String
    private static let largest = 1 << 20

    /// - Throws: `corrupt` if there is a file that cannot be read.
    package init(_ folders: HostSettings.Folders) throws(StorageError) {
        file = "\(folders.state)/moved-domains.json"
        if HostFile.exists(file) {
            let data = HostFile.contents(of: file, ownedByUser: true, limit: Self.largest)
            guard let content = data.flatMap({ try? JSONDecoder().decode(Content.self, from: $0) }) else {
                throw StorageError(
                    .corrupt, "'\(file)', which says what was moved between stores, cannot be read",
                    hint: "see that the configuration names the stores that have the values, then remove the file")
            }
            self.content = content
        }
        saved = content
    }

    package var moves: [Move] { content.moves }

    /// The number of the latest run that moved values; 0 if there was none.
    package var last: Int { content.last }

    /// - Parameters:
    ///   - open: The store that serves the domain.
    ///   - known: The number of the latest move when the program read its configuration.
    /// - Throws: `invalidConfiguration` if its values were moved away since, or before any program used another store.
    package func requireUnmoved(_ domain: String, in open: OpenStore, after known: Int) throws(StorageError) {
        let move = moves.first { $0.domain == domain && $0.identity == open.identity }
        guard let move, move.number > known || !move.isFollowed else { return }
        let place = place(of: move)
        throw StorageError(
            .invalidConfiguration,
            "the values of '\(domain)' were moved from store '\(move.from)' to '\(place)', and this program uses "
                + "'\(move.from)'; syncing would remove them from the other devices",
            hint: "map the domain to where they are, and start this program again: ld-host config set domains."
                + "\(ConfigurationPath([domain])) \(place)")
    }

    /// The name of the store in which the values of a move are now: others may have moved them on.
    private func place(of move: Move) -> String {
        var (place, passed) = (move.to, [move.from])
        while let next = moves.first(where: { $0.domain == move.domain && $0.from == place }), !passed.contains(place) {
            passed.append(place)
            place = next.to
        }
        return place
    }

    /// Whether a store got all values of a domain from the one that served it, and no others, at a time or later.
    ///
    /// - Parameter time: In milliseconds since 1970 UTC.
    package func haveArrived(_ domain: String, in open: OpenStore, since time: UInt64) -> Bool {
        moves.contains { move in
            guard let arrival = move.arrival, move.domain == domain else { return false }
            return arrival.identity == open.identity && arrival.time >= time
        }
    }

    /// Notes that sync has found which store serves a domain.
    package mutating func follow(_ domain: String, to open: OpenStore) {
        for (index, move) in moves.enumerated() where move.domain == domain && move.identity != open.identity {
            content.moves[index].isFollowed = true
        }
    }

    /// Notes that a store has the values of some domains again.
    package mutating func bring(_ domains: Set<String>, to open: OpenStore) {
        content.moves.removeAll { $0.identity == open.identity && domains.contains($0.domain) }
    }

    /// Notes that the values of some domains are about to leave a store.
    ///
    /// - Parameter arrived: When the other one had all of them and no others, in milliseconds since 1970 UTC; `nil` if
    ///   it may have others.
    package mutating func move(
        _ domains: Set<String>, from source: OpenStore, to target: OpenStore, arrived: UInt64? = nil
    ) {
        for store in [source, target] { bring(domains, to: store) }
        guard !domains.isEmpty else { return }
        content.last += 1
        for domain in domains.sorted() {
            content.moves.append(
                Move(
                    domain: domain, identity: source.identity, from: source.name, to: target.name, number: last,
                    arrival: arrived.map { Arrival(identity: target.identity, time: $0) }))
        }
    }

    /// Saves what has changed, durably.
    package func save() throws(StorageError) {
        guard content != saved else { return }
        let data = try storageErrors { try JSONEncoder().encode(content) }
        try HostFile.write(data, to: file)
    }
}
