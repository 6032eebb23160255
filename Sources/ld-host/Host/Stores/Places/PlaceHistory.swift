package import HostGround
package import LocalDataAPI
internal import Synchronization

/// Where the values of typed keys have been on this machine, so that a key whose domain, directory or sub-directory has
/// changed finds its value: a file of lines beside the values, which grows when a key's value gets to another place.
///
/// It is not synchronized: after a power loss the last lines may be missing, and are added with the next use. Uses of a
/// key without an owner are not remembered, nor are more than 10,000 keys.
package final class PlaceHistory: Sendable {
    package struct Key: Hashable, Sendable {
        let app: String
        package let owner: String
        let name: ExactText

        package init(app: String, owner: String, name: String) {
            self.app = app
            self.owner = owner
            self.name = ExactText(name)
        }
    }

    private struct State {
        var file: PlaceFile?
        /// How much of the file is known.
        var position = PlaceFile.Position()
        var records: [Key: PlaceRecord] = [:]
        var owners: [StorageAddress: Set<Key>] = [:]
        var order = 0
        /// The places where this router has found or stored a key's value, with the settings that it has.
        var current: [Key: Set<PlaceEntry>] = [:]

        /// Whether a key is known, or there is room for one more.
        func hasRoom(for key: Key) -> Bool { records[key] != nil || records.count < PlaceHistory.most }

        mutating func apply(_ line: PlaceFile.Line) {
            let key = line.entry.key
            guard hasRoom(for: key) else { return }
            order += 1
            records[key, default: PlaceRecord()].apply(line.event, line.entry, at: order)
            // A value that was only brought may be another owner's.
            guard line.event == .set else { return }
            owners[StorageAddress(line.entry.place, name: line.entry.name), default: []].insert(key)
        }
    }

    /// The most keys; those whose names are made at run time may be too many to be remembered.
    private static let most = 10_000

    private let state = Mutex(State())

    package init() {}

    /// The places of a key; `nil` if none is known. The file must have been read.
    package func record(of key: Key) -> PlaceRecord? { state.withLock { $0.records[key] } }

    /// Whether the file has been read.
    package func isLoaded(_ folders: HostSettings.Folders) -> Bool { state.withLock { $0.file == Self.file(folders) } }

    /// Reads what has been added to the file since. May wait.
    package func refresh(_ folders: HostSettings.Folders) { state.withLock { Self.refresh(&$0, folders) } }

    /// What is known of the values at addresses, for a backup of them.
    package struct Holders {
        fileprivate var known: [StorageAddress: [Key: PlaceHolder]] = [:]

        /// The apps with a key of this owner at an address, in order.
        package func of(_ address: StorageAddress, owner: String) -> [PlaceHolder] {
            (known[address] ?? [:]).filter { $0.key.owner == owner }.values
                .sorted { $0.app.utf8.lexicographicallyPrecedes($1.app.utf8) }
        }
    }

    /// What is known of all values. May wait.
    package func holders(_ folders: HostSettings.Folders) -> Holders {
        state.withLock { state in
            Self.refresh(&state, folders)
            var holders = Holders()
            for (key, record) in state.records {
                for known in record.places where known.last > 0 {
                    let address = StorageAddress(known.entry.place, name: known.entry.name)
                    holders.known[address, default: [:]][key] = PlaceHolder(
                        app: key.app, found: UInt64(known.found), set: UInt64(known.set), left: UInt64(known.left),
                        removed: UInt64(record.removed), isApart: known.isApart)
                }
            }
            return holders
        }
    }

    /// Other keys whose values were at an address with another owner.
    package func otherOwners(of address: StorageAddress, than key: Key) -> [Key] {
        state.withLock { state in
            (state.owners[address] ?? []).filter { other in
                other.owner != key.owner && other.name == key.name
                    && state.records[other]?[address.place].map { $0.left < $0.last } == true
            }
        }
    }

    /// Whether this router itself has used the key there, with the settings that it has: then the key of that place has
    /// not been changed, and another one of the same name is another key.
    package func isCurrent(_ entry: PlaceEntry) -> Bool {
        state.withLock { $0.current[entry.key]?.contains { $0.place.isSame(as: entry.place) } == true }
    }

    /// From now on what was used counts as used by another router: where keys are may have been changed.
    package func settingsChanged() { state.withLock { $0.current = [:] } }

    /// Remembers events. What keeps that from being done keeps nobody from writing. May wait.
    ///
    /// - Parameter isUse: Whether the app uses the keys there now.
    package func add(_ events: [(event: PlaceEvent, entry: PlaceEntry)], isUse: Bool, _ folders: HostSettings.Folders) {
        state.withLock { state in
            Self.refresh(&state, folders)
            var lines: [PlaceFile.Line] = []
            func add(_ event: PlaceEvent, _ entry: PlaceEntry) {
                guard (state.records[entry.key] ?? PlaceRecord()).isNews(event, entry) else { return }
                let line = PlaceFile.Line(event: event, entry: entry)
                state.apply(line)
                lines.append(line)
            }
            func isLeft(_ entry: PlaceEntry) -> Bool {
                state.records[entry.key]?[entry.place].map { $0.left > $0.last } == true
            }
            // Names that are made at run time must not let file and memory grow without end.
            for (event, entry) in events where state.hasRoom(for: entry.key) {
                // A use says nothing of the order, except where nothing is known.
                let isKnown =
                    isUse && event == .found && state.records[entry.key]?[entry.place].map { $0.last > 0 } == true
                if !isKnown { add(event, entry) }
                guard isUse, event != .removed else { continue }
                // One that this process has brought from another place is the same key.
                let used = (state.current[entry.key] ?? []).filter { !isLeft($0) || $0.place.isSame(as: entry.place) }
                let besides = used.filter { !$0.place.isSame(as: entry.place) }
                for other in besides { add(.apart, other) }
                if !besides.isEmpty { add(.apart, entry) }
                state.current[entry.key] = besides.count == used.count ? used.union([entry]) : used
            }
            guard !lines.isEmpty, let file = state.file else { return }
            state.position = file.append(lines, after: state.position)
        }
    }

    private static func file(_ folders: HostSettings.Folders) -> PlaceFile {
        PlaceFile(path: "\(folders.data)/places.jsonl")
    }

    private static func refresh(_ state: inout State, _ folders: HostSettings.Folders) {
        let file = file(folders)
        if state.file != file { state = State(file: file, current: state.current) }
        guard let (lines, end, isWhole) = file.lines(from: state.position) else { return }
        if isWhole { state = State(file: file, current: state.current) }
        for line in lines { state.apply(line) }
        state.position = end
        guard isWhole, lines.count > 1000, lines.count > 4 * state.records.count else { return }
        let events = state.records.values.flatMap(\.events).sorted { $0.order < $1.order }
        file.replace(with: events.map { PlaceFile.Line(event: $0.event, entry: $0.entry) }, ifUnchangedSince: end)
    }
}
