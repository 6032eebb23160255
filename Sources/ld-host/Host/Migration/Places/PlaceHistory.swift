internal import DurableFiles
internal import FoundationEssentials
internal import Glibc
internal import LocalDataAPI
internal import Synchronization

/// Where the values of typed keys have been written on this machine, so that a key whose domain, directory or
/// sub-directory has changed finds its value: a file of lines in the state folder, which grows by one when a key is
/// first written at a place.
///
/// It is not synchronized: after a power loss the last lines may be missing, and are added with the next write. It is
/// read once by each router.
final class PlaceHistory: Sendable {
    /// One line: a key, and a place that its value was written to.
    struct Entry: Codable, Hashable, Sendable {
        let owner: String
        let name: String
        let type: String
        let domain: String
        let scope: String
        let directory: String?
        let security: SecurityPolicy
        let serializer: SerializerFormat
        /// Whether the key left its service or group to the configuration; `nil` if an earlier version wrote the line.
        let usesDefault: Bool?

        init(_ key: StorageKeyDescriptor, at place: StorageNamespace) {
            owner = key.owner
            name = key.name
            type = key.valueType
            domain = place.domain
            scope = place.scope
            directory = place.directory
            security = key.security
            serializer = key.serializer
            usesDefault = key.domain.usesDefault
        }

        var place: StorageNamespace { StorageNamespace(domain: domain, scope: scope, directory: directory) }

        /// Whether a key that is now at `place` may have been here. With another suite, service, group or folder that
        /// the code names, it belongs to another profile, account or document: one never gets what another has.
        func mayHaveHeld(_ key: StorageKeyDescriptor, now place: StorageNamespace) -> Bool {
            guard domain == place.domain else { return true }
            return self.place.named == place.named || usesDefault == true && key.domain.usesDefault
        }
    }

    private struct Key: Hashable {
        let owner: String
        let name: String
    }

    private struct State {
        var file: String?
        var entries: [Key: [Entry]] = [:]
        var count = 0
        /// The locations that this router has written to.
        var current: Set<Entry> = []
    }

    /// The most lines; keys whose names are made at run time have too many to be remembered.
    private static let most = 10_000
    private static let mostBytes = 16 << 20

    private let state = Mutex(State())

    /// Whether locations of a key are known; `nil` if the file has not been read.
    func knows(_ owner: String, _ name: String) -> Bool? {
        state.withLock { state in
            guard state.file != nil else { return nil }
            return !state.entries.isEmpty && state.entries[Key(owner: owner, name: name)] != nil
        }
    }

    /// The known locations of a key. May wait.
    func entries(of owner: String, _ name: String, _ folders: HostSettings.Folders) -> [Entry] {
        state.withLock { state in
            Self.load(&state, folders)
            return state.entries[Key(owner: owner, name: name)] ?? []
        }
    }

    /// Whether this router itself has written there, with the settings that it has: then the key of that place has not
    /// been changed, and another one of the same name is another key.
    func isCurrent(_ entry: Entry) -> Bool { state.withLock { $0.current.contains(entry) } }

    /// From now on what was written counts as written by another router: where keys are may have been changed.
    func settingsChanged() { state.withLock { $0.current = [] } }

    /// Remembers places, unless they are known. What keeps that from being done keeps nobody from writing. May wait.
    func add(_ entries: [Entry], _ folders: HostSettings.Folders) {
        state.withLock { state in
            Self.load(&state, folders)
            var lines = Data()
            for entry in entries where !entry.owner.isEmpty && state.count < Self.most {
                let key = Key(owner: entry.owner, name: entry.name)
                state.current.insert(entry)
                guard state.entries[key]?.contains(entry) != true, let line = try? JSONEncoder().encode(entry) else {
                    continue
                }
                lines.append(line)
                lines.append(UInt8(ascii: "\n"))
                state.entries[key, default: []].append(entry)
                state.count += 1
            }
            if !lines.isEmpty { Self.append(lines, to: Self.path(folders)) }
        }
    }

    private static func path(_ folders: HostSettings.Folders) -> String { "\(folders.state)/places.jsonl" }

    private static func load(_ state: inout State, _ folders: HostSettings.Folders) {
        let file = path(folders)
        guard state.file != file else { return }
        state = State(file: file, current: state.current)
        guard let data = HostFile.contents(of: file, ownedByUser: true, limit: mostBytes) else { return }
        // A line that was cut off, or is of a later program, is none.
        for line in data.split(separator: UInt8(ascii: "\n")).prefix(most) {
            guard let entry = try? JSONDecoder().decode(Entry.self, from: Data(line)) else { continue }
            state.entries[Key(owner: entry.owner, name: entry.name), default: []].append(entry)
            state.count += 1
        }
    }

    private static func append(_ lines: Data, to path: String) {
        let flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW
        var descriptor = open(path, flags, 0o600)
        if descriptor < 0, errno == ENOENT {
            let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
            try? DurableDirectory(root: HostFile.absolute(folder)).make()
            descriptor = open(path, flags, 0o600)
        }
        guard descriptor >= 0 else { return }
        // One call, so that lines of two processes are not mixed; a part of one is skipped by who reads it.
        _ = lines.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        close(descriptor)
    }
}
