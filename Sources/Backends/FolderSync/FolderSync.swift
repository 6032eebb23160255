import DurableFiles
import FoundationEssentials
public import LocalDataPluginAPI
import Synchronization

/// Carries records in a folder that another program copies between machines, such as Syncthing or rclone, or that they
/// share, such as one of NFS.
///
/// Each writer has a subfolder of its name, and only that device writes there: it appends frames to segments of about
/// 1 MiB (see ``SegmentHeader`` and ``FrameForm``). So a copying program never has two versions of a file. A reader
/// takes whole frames in their order, and waits where bytes have not arrived or are not as they were written, writer
/// by writer; see ``WriterSegments``. Other files, such as conflict copies, are ignored. No symbolic link below the
/// folder is followed.
///
/// - **Compaction.** When more than half of a writer's bytes are of replaced or removed records, it writes a base with
///   the records that count, and removes the segments before it ten minutes later, so that the base can arrive first.
/// - **Restored devices.** A device that continues from an old image begins a new segment, which everybody reads. When
///   the copying program brings back what the device published after the image, both count: of each name, the record
///   that was published last, by the device's clock. See ``Branches``.
/// - **Late files.** A reader waits for files that are missing or shorter than they were. If a position names one that
///   is gone, or has not changed for ten minutes and is unfinished or shorter than it was, the position is lost: then
///   the folder was put back to an earlier state.
/// - **Damage.** The records behind damaged bytes are not read before the copying program repairs them, or the device
///   that published them reads from the beginning: then its next segment is a base, and the engine publishes what the
///   transport has lost.
/// - **Unmounting.** An unmounted folder is usually an empty one: name an entry of the folder as `marker` to notice it.
final class FolderSync: SyncTransport {
    static let component = ComponentInfo(
        id: "folder", summary: "carries changes in a folder that a program copies between devices",
        options: [
            .path("folder", required: true, help: "the folder that the devices share"),
            .integer(
                "poll", default: 30, help: "seconds between polls for changes that the system does not report"),
            .integer("segment", default: 1 << 20, help: "the size in bytes at which a file is closed"),
            .string("marker", default: "", help: "an entry without which the folder is not mounted, e.g. '.stfolder'"),
        ])

    /// The most bytes of a record's content.
    static let largestContent = 16 << 20
    let largestRecord = FolderSync.largestContent

    let folder: SharedFolder
    private let settings: Publisher.Settings
    private let headers = HeaderCache()
    private let publishers = Mutex<[String: Publisher]>([:])
    private let log: any StorageLogHandler
    private let watch: SharedFolderWatch
    /// The number of calls of `cancel`.
    private let cancellations = Atomic<Int>(0)

    /// - Throws: `invalidOptions`; `permissionDenied` if this is the superuser and the folder belongs to another user.
    convenience init(options: ComponentOptions, host: HostServices) throws {
        let segment = try options.integer("segment", in: 4096...(1 << 30))
        try self.init(options: options, host: host, settings: Publisher.Settings(segment: Int(segment)))
    }

    init(options: ComponentOptions, host: HostServices, settings: Publisher.Settings) throws {
        let path = try options.string("folder")
        guard path.utf8.first == UInt8(ascii: "/"), !path.utf8.contains(0) else {
            throw StorageError(
                .invalidOptions, "option 'folder' is '\(path)'; expected an absolute path",
                hint: "start it with '/', '~/' or '${data}/'")
        }
        let poll = try options.integer("poll", in: 1...86_400, unit: "seconds")
        let marker = try options.string("marker")
        guard !marker.utf8.contains(UInt8(ascii: "/")), !marker.utf8.contains(0) else {
            throw StorageError(.invalidOptions, "option 'marker' is '\(marker)'; expected the name of an entry")
        }
        let directory = try DurableDirectory(root: path)
        if let owner = try? directory.foreignOwner() {
            throw StorageError(
                .permissionDenied, "the folder '\(path)' belongs to user \(owner), and this process runs as root",
                hint: "run it as user \(owner), or choose a 'folder' of root's own")
        }
        folder = try SharedFolder(path: path, marker: marker)
        log = host.log
        self.settings = settings
        watch = SharedFolderWatch(folder, poll: Int(poll)) { [log] in log(.warning, Self.component.id, $0) }
    }

    func publish(_ records: [SyncRecord]) throws {
        guard let writer = records.first?.writer else { return }
        for record in records {
            guard record.writer == writer else {
                throw StorageError(
                    .invalidAddress, "records of '\(writer)' and of '\(record.writer)' were published in one call")
            }
            guard record.content.count <= largestRecord else {
                throw StorageError(
                    .valueTooLarge,
                    "record '\(record.name)' has \(record.content.count) bytes; expected at most \(largestRecord)")
            }
        }
        try publish(records.map { Batch.Change(kind: .put, name: $0.name, content: $0.content) }, of: writer)
    }

    func remove(_ names: [String], of writer: String) throws {
        if names.isEmpty { return }
        try publish(names.map { Batch.Change(kind: .remove, name: $0, content: Data()) }, of: writer)
    }

    private func publish(_ changes: [Batch.Change], of writer: String) throws {
        for name in [writer] + changes.map(\.name) where !SyncRecord.isUsable(name.utf8) {
            throw StorageError(
                .invalidAddress, "'\(name)' is not a valid name of a writer or record",
                hint: "use 1 to 64 lower case letters, digits and '-'")
        }
        try folder.reach()
        let before = cancellations.load(ordering: .acquiring)
        try StorageError.reaching {
            try publisher(of: writer).publish(changes) { cancellations.load(ordering: .acquiring) != before }
        }
        watch.noteChange()
    }

    private func publisher(of writer: String) throws -> Publisher {
        try publishers.withLock { publishers in
            if let publisher = publishers[writer] { return publisher }
            let publisher = Publisher(writer, in: try folder.subfolder(of: writer), settings, headers) { [log] in
                log(.warning, Self.component.id, $0)
            }
            publishers[writer] = publisher
            return publisher
        }
    }

    func fetch(since position: Data?, _ body: (SyncRecord) -> Bool) throws -> Data {
        var start = FolderPosition()
        if let position {
            guard let read = FolderPosition(position) else { throw lost("the position is damaged") }
            start = read
        }
        try folder.reach()
        let before = cancellations.load(ordering: .acquiring)
        return try StorageError.reaching {
            let reading = Reading(folder, headers, since: start)
            try reading.list()
            if let part = try reading.lostPart() { throw lost(part) }
            for problem in reading.problems { log(.warning, Self.component.id, problem) }
            let problems = reading.problems.count
            defer {
                for problem in reading.problems.dropFirst(problems) { log(.warning, Self.component.id, problem) }
                for writer in reading.damaged { try? publisher(of: writer).noteDamage() }
                if !reading.problems.isEmpty { watch.expectMore() }
            }
            try reading.read {
                guard cancellations.load(ordering: .acquiring) == before else { throw StorageError.cancelled }
                return body($0)
            }
            return try reading.position.encoded(in: folder.path)
        }
    }

    private func lost(_ problem: String) -> StorageError {
        StorageError(.positionLost, "\(problem), so reading of '\(folder.path)' cannot resume there")
    }

    func subscribe(_ notify: @escaping @Sendable (SyncNotice) -> Void) throws -> FolderSubscription {
        try StorageError.reaching { try watch.subscribe(notify) }
    }

    func unsubscribe(_ subscription: FolderSubscription) { watch.unsubscribe(subscription) }

    func cancel() { cancellations.add(1, ordering: .acquiringAndReleasing) }
}

extension Plugin.Component {
    /// The transport, for a plugin.
    public static var folderSync: Plugin.Component { .sync(FolderSync.self) }
}
