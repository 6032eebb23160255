import FoundationEssentials
import Glibc
import LocalDataPluginAPI
import Synchronization

/// Carries records between the devices that use one folder: each publication is a file, with the next number.
final class SwiftSync: SyncTransport {
    static let component = ComponentInfo(
        id: "swift-sync", summary: "carries records through files in one folder",
        options: [.path("folder", default: "${data}/swift-sync", help: "the folder of all devices")])

    let largestRecord = 4 << 20

    /// A record as a file has it; without content it was removed.
    private struct Stored: Codable {
        let writer: String
        let name: String
        var content: Data?
    }

    /// What is next: a record of a file. The number of files begins with 1.
    private struct Place {
        var file = 1
        var index = 0
    }

    private let folder: String
    /// A number that is taken for sure, to look for the next one from there.
    private let taken = Mutex(0)
    private let removal = Mutex(())

    init(options: ComponentOptions, host: HostServices) throws {
        folder = try options.string("folder")
        // If that fails now, each call fails until it works.
        try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    func publish(_ records: [SyncRecord]) throws {
        if let large = records.first(where: { $0.content.count > largestRecord }) {
            throw StorageError(.valueTooLarge, "the record '\(large.name)' has more than \(largestRecord) bytes")
        }
        let stored = records.map { Stored(writer: $0.writer, name: $0.name, content: $0.content) }
        try taken.withLock { taken in
            // A file gets its name when it is complete, and only if no other has the name.
            try withDraft(PropertyListEncoder().encode(stored)) { draft in
                while link(draft, path(taken + 1)) != 0 {
                    guard errno == EEXIST else { throw failure() }
                    taken += 1
                }
            }
        }
    }

    func remove(_ names: [String], of writer: String) throws {
        try removal.withLock { _ in
            var file = 1
            while var records = try records(in: file) {
                let found = records.indices.filter {
                    records[$0].writer == writer && names.contains(records[$0].name) && records[$0].content != nil
                }
                for index in found { records[index].content = nil }
                if !found.isEmpty {
                    try withDraft(PropertyListEncoder().encode(records)) { draft in
                        guard rename(draft, path(file)) == 0 else { throw failure() }
                    }
                }
                file += 1
            }
        }
    }

    func fetch(since position: Data?, _ body: (SyncRecord) -> Bool) throws -> Data {
        let id = try id()
        var place = try position.map { try self.place(of: $0, id) } ?? Place()
        while let records = try records(in: place.file) {
            guard place.index <= records.count else { throw lost }
            while place.index < records.count {
                let stored = records[place.index]
                place.index += 1
                guard let content = stored.content else { continue }
                guard body(SyncRecord(writer: stored.writer, name: stored.name, content: content)) else {
                    return self.position(place, id)
                }
            }
            place = Place(file: place.file + 1)
        }
        return self.position(place, id)
    }

    /// Ends the thread that looks for new files.
    final class Subscription: Sendable {
        fileprivate let isOver = Mutex(false)
    }

    func subscribe(_ notify: @escaping @Sendable (SyncNotice) -> Void) throws -> Subscription {
        let subscription = Subscription()
        var next = 1
        while access(path(next), F_OK) == 0 { next += 1 }
        let first = next
        let thread = LookingThread { [self] in
            var next = first
            while true {
                var isNew = false
                while access(path(next), F_OK) == 0 { (next, isNew) = (next + 1, true) }
                let isOver = subscription.isOver.withLock { isOver in
                    // Under the lock, so that no notice is running when the subscription has ended.
                    if isNew && !isOver { notify(.changed) }
                    return isOver
                }
                if isOver { return }
                usleep(50_000)
            }
        }
        guard thread.start() else { throw failure() }
        return subscription
    }

    func unsubscribe(_ subscription: Subscription) { subscription.isOver.withLock { $0 = true } }

    /// Nothing waits here but for a disk.
    func cancel() {}
}

extension SwiftSync {
    private func path(_ file: Int) -> String { "\(folder)/\(file).plist" }

    /// The records of a file; `nil` if there is no such file.
    private func records(in file: Int) throws -> [Stored]? {
        guard access(path(file), F_OK) == 0 else { return nil }
        guard let data = FileManager.default.contents(atPath: path(file)) else { throw failure() }
        guard let records = try? PropertyListDecoder().decode([Stored].self, from: data) else {
            throw StorageError(.corrupt, "'\(path(file))' is not a file of this transport")
        }
        return records
    }

    /// What tells this folder from one that was set up again.
    private func id() throws -> String {
        let path = "\(folder)/id"
        if access(path, F_OK) != 0 {
            try withDraft(Data(UUID().uuidString.utf8)) { draft in
                guard link(draft, path) == 0 || errno == EEXIST else { throw failure() }
            }
        }
        guard let data = FileManager.default.contents(atPath: path) else { throw failure() }
        return String(decoding: data, as: UTF8.self)
    }

    private func position(_ place: Place, _ id: String) -> Data { Data("\(id)/\(place.file)/\(place.index)".utf8) }

    private func place(of position: Data, _ id: String) throws -> Place {
        let parts = String(decoding: position, as: UTF8.self).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == id, let file = Int(parts[1]), let index = Int(parts[2]), file > 0,
            index >= 0, file == 1 || access(path(file - 1), F_OK) == 0
        else { throw lost }
        return Place(file: file, index: index)
    }

    private var lost: StorageError { StorageError(.positionLost, "'\(folder)' has no such position") }

    /// Writes a file under another name for `publish`, and makes both durable.
    private func withDraft(_ data: Data, _ publish: (String) throws -> Void) throws {
        let draft = "\(folder)/\(UUID().uuidString).draft"
        defer { unlink(draft) }
        try Self.synchronized(draft, O_WRONLY | O_CREAT | O_EXCL, failure) { file in
            data.withUnsafeBytes { bytes in
                var rest = bytes
                while !rest.isEmpty {
                    let count = write(file, rest.baseAddress, rest.count)
                    guard count > 0 else { return false }
                    rest = UnsafeRawBufferPointer(rebasing: rest[count...])
                }
                return true
            }
        }
        try publish(draft)
        try Self.synchronized(folder, O_RDONLY | O_DIRECTORY, unknown) { _ in true }
    }

    private static func synchronized(
        _ path: String, _ flags: Int32, _ failure: () -> StorageError, _ body: (Int32) -> Bool
    ) throws {
        let file = open(path, flags | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw failure() }
        defer { close(file) }
        guard body(file), fsync(file) == 0 else { throw failure() }
    }

    private func unknown() -> StorageError {
        StorageError(.durabilityUnknown, "'\(folder)' cannot be synced: \(String(cString: strerror(errno)))")
    }

    private func failure() -> StorageError {
        StorageError(
            .storeUnavailable, "'\(folder)' cannot be used: \(String(cString: strerror(errno)))",
            hint: "check who may write to the folder")
    }
}

/// A thread of the transport's own: one of Swift's must not wait.
private final class LookingThread: Sendable {
    private let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    func start() -> Bool {
        var thread = pthread_t()
        let context = Unmanaged.passRetained(self)
        let status = pthread_create(&thread, nil, runLookingThread, context.toOpaque())
        guard status == 0 else {
            context.release()
            return false
        }
        pthread_detach(thread)
        return true
    }

    fileprivate func run() { body() }
}

private func runLookingThread(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let context { Unmanaged<LookingThread>.fromOpaque(context).takeRetainedValue().run() }
    return nil
}
